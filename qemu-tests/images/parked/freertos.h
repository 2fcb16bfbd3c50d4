// SPDX-License-Identifier: MIT
// qemu-tests/images: the control blocks of parked.c for FreeRTOS. The valve waits for the queue
// "pressure", the pump is ready, and the idle task has the core. Source: the names of types,
// members and variables are those that FreeRTOS's public headers and its debuggers use.
#ifndef PARKED_FREERTOS_H
#define PARKED_FREERTOS_H

typedef struct xLIST List_t;
typedef struct xLIST_ITEM {
    unsigned xItemValue;
    struct xLIST_ITEM *pxNext, *pxPrevious;
    void *pvOwner;
    List_t *pxContainer;
} ListItem_t;
typedef struct {
    unsigned xItemValue;
    ListItem_t *pxNext, *pxPrevious;
} MiniListItem_t;
struct xLIST {
    ULONG uxNumberOfItems;
    ListItem_t *pxIndex;
    MiniListItem_t xListEnd;
};
typedef struct tskTaskControlBlock {
    void *pxTopOfStack;
    ListItem_t xStateListItem, xEventListItem;
    ULONG uxPriority;
    void *pxStack;
    char pcTaskName[16];
    void *pxEndOfStack;
    ULONG uxBasePriority;
} TCB_t;
typedef struct QueueDefinition {
    char *pcHead, *pcWriteTo;
    List_t xTasksWaitingToSend, xTasksWaitingToReceive;
    ULONG uxMessagesWaiting, uxLength, uxItemSize;
    unsigned char ucQueueType;
} Queue_t;
typedef struct {
    const char *pcQueueName;
    Queue_t *xHandle;
} QueueRegistryItem_t;

enum { PRIORITIES = 7, IDLE = THREADS, FILL = 0xA5 };

List_t pxReadyTasksLists[PRIORITIES], xDelayedTaskList1, xDelayedTaskList2, xPendingReadyList,
    xSuspendedTaskList;
TCB_t *volatile pxCurrentTCB;
volatile unsigned xTickCount = 1000;
volatile ULONG uxCurrentNumberOfTasks;
QueueRegistryItem_t xQueueRegistry[4];

extern ULONG main_stack[], main_stack_end[];
static TCB_t blocks[THREADS + 1];
static Queue_t pressure;
static char messages[4];
#define SAVED(thread) (&blocks[thread].pxTopOfStack)

// Memory that is not defined is 0.
static void define_thread(int thread, const char *name, ULONG *stack, ULONG words)
{
    TCB_t *block = &blocks[thread];

    block->uxPriority = block->uxBasePriority = 5;
    block->pxStack = stack;
    block->pxEndOfStack = stack + words - 1;
    for (int i = 0; name[i]; i++)
        block->pcTaskName[i] = name[i];
}

static void empty(List_t *list)
{
    list->pxIndex = (ListItem_t *)(void *)&list->xListEnd;
    list->xListEnd = (MiniListItem_t){~0U, list->pxIndex, list->pxIndex};
}

static void append(List_t *list, ListItem_t *item, TCB_t *owner, unsigned value)
{
    ListItem_t *end = (ListItem_t *)(void *)&list->xListEnd;

    *item = (ListItem_t){value, end, end, owner, list};
    list->uxNumberOfItems = 1;
    list->xListEnd.pxNext = list->xListEnd.pxPrevious = item;
}

static void link_threads(void)
{
    List_t *const lists[] = {&xDelayedTaskList1,
                             &xDelayedTaskList2,
                             &xPendingReadyList,
                             &xSuspendedTaskList,
                             &pressure.xTasksWaitingToSend,
                             &pressure.xTasksWaitingToReceive};

    for (unsigned i = 0; i < sizeof lists / sizeof *lists; i++)
        empty(lists[i]);
    for (int i = 0; i < PRIORITIES; i++)
        empty(&pxReadyTasksLists[i]);
    define_thread(IDLE, "IDLE", main_stack, (ULONG)(main_stack_end - main_stack));
    blocks[IDLE].uxPriority = 0;
    pressure.pcHead = pressure.pcWriteTo = messages;
    pressure.uxLength = sizeof messages;
    pressure.uxItemSize = 1;
    xQueueRegistry[0] = (QueueRegistryItem_t){"pressure", &pressure};
    append(&xDelayedTaskList1, &blocks[VALVE].xStateListItem, &blocks[VALVE], 1200);
    append(&pressure.xTasksWaitingToReceive, &blocks[VALVE].xEventListItem, &blocks[VALVE], 0);
    append(&pxReadyTasksLists[5], &blocks[PUMP].xStateListItem, &blocks[PUMP], 0);
    append(&pxReadyTasksLists[0], &blocks[IDLE].xStateListItem, &blocks[IDLE], 0);
    pxCurrentTCB = &blocks[IDLE];
    uxCurrentNumberOfTasks = THREADS + 1;
}

#endif
