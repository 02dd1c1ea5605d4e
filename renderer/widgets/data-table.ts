/**
 * Columns of DataTable and their layout: order, widths, visibility, sort order and the multi-selection are state of
 * TanStack Table. Rows pass through it only if the table sorts them itself.
 */
import {
  columnOrderingFeature,
  columnResizingFeature,
  columnSizingFeature,
  columnVisibilityFeature,
  createSortedRowModel,
  functionalUpdate,
  rowSelectionFeature,
  rowSortingFeature,
  tableFeatures,
  useTable,
  type ColumnDef,
  type RowSelectionState,
  type SortingState,
} from '@tanstack/vue-table'
import { computed, inject, shallowRef, watch, type HTMLAttributes } from 'vue'
import type { TextColumn } from '../format/table-text.ts'
import { layoutOf, memoryLayouts, MOST_PX, tableLayouts, type TableLayout } from './table-services.ts'

/** Attributes of a cell besides its class; the value decides. */
export interface CellAttributes {
  readonly class?: HTMLAttributes['class']
  readonly title?: string | undefined
  readonly [data: `data-${string}`]: string | undefined
}
/** Class and data attributes of a row. */
export interface RowAttributes {
  readonly class?: HTMLAttributes['class']
  readonly title?: string | undefined
  readonly [data: `data-${string}`]: string | number | undefined
}

/** Comparison of two instants in one column. */
export interface Comparison<Row> {
  /** Set in narrow tables: the cell shows B and the change. */
  readonly isShort?: boolean
  readonly parts: (row: Row) => readonly [a: string, b: string, change: string]
  /** Sign of the change, for its color; null: not known at A or B. */
  readonly sign?: (row: Row) => number | null
}

export interface TableColumn<Row> {
  readonly id: string
  readonly title: string
  /** Name for screen readers and menus if the title is empty or a symbol. */
  readonly label?: string | undefined
  readonly unit?: string | undefined
  /** Numbers are right-aligned. */
  readonly isNumber?: boolean
  /** Width, px; of a flexible column the least. */
  readonly width: number
  /** Share of the spare width that the column takes. */
  readonly flex?: number | undefined
  /** Width up to which the column grows into spare width, px. */
  readonly maxWidth?: number | undefined
  /** Least width to which the column can be resized, px. */
  readonly minWidth?: number
  readonly canSort?: boolean
  /** Letter that sorts by this column. */
  readonly sortKey?: string | undefined
  /** Direction of the first sort; by default numbers are descending. */
  readonly sortsDescending?: boolean
  /** Test id of the sort button instead of `sort-<id>`. */
  readonly sortTestId?: string
  /** Id of the explanation. */
  readonly explain?: string | undefined
  /**
   * Rank among the columns that are hidden while the table is too narrow, the lowest first; equal ones together. A column
   * without priority is never hidden automatically.
   */
  readonly priority?: number | undefined
  /** Hidden until the operator shows it. */
  readonly isHidden?: boolean
  /** False if the operator cannot hide it. */
  readonly canHide?: boolean
  /** Keeps its place at the start or the end, its width, and is always shown. */
  readonly isFixed?: boolean
  /** Second line below the other cells, over the full width; its header is only read by screen readers. */
  readonly isBelow?: boolean
  /** Set while two instants are compared. */
  readonly compared?: Comparison<Row> | undefined
  /** Text of the cell: shown unless there is a slot, and copied. A column without it is not copied. */
  readonly text?: (row: Row) => string
  /** Value for sorting in the table and for JSON; without it, the text. */
  readonly value?: (row: Row) => string | number | null
  readonly cellClass?: string
  readonly cellAttributes?: (row: Row) => CellAttributes
}

/** Methods of a mounted table for its view. */
export interface TableExposed {
  /** Moves the current row; without one, to the first row in view. */
  move: (by: number) => void
  /** Opens the current row. */
  open: () => void
  scrollTo: (index: number) => void
  focus: () => void
  copyText: (format: 'tsv' | 'csv' | 'json', rows?: 'all') => string
  readonly element: HTMLElement | null
}

/** Least width to which a column can be resized, px. */
const LEAST_PX = 32
const NO_LAYOUT = layoutOf(null)

/** State of a column that TanStack Table depends on. */
interface Shape {
  readonly id: string
  readonly width: number
  readonly minWidth: number
  readonly canSort: boolean
  readonly sortsDescending: boolean
  readonly isHidden: boolean
  readonly isFixed: boolean
}
const shapeOf = <Row>(column: TableColumn<Row>): Shape => ({
  id: column.id,
  width: column.width,
  minWidth: column.minWidth ?? Math.min(LEAST_PX, column.width),
  canSort: column.canSort ?? false,
  sortsDescending: column.sortsDescending ?? column.isNumber ?? false,
  isHidden: column.isHidden ?? false,
  isFixed: column.isFixed ?? false,
})

/**
 * Order of all columns: fixed ones at the start and the end, the others as stored. A column that the stored order does
 * not have follows its predecessor.
 */
export function completeOrder(columns: readonly Pick<Shape, 'id' | 'isFixed'>[], stored: readonly string[]): string[] {
  const free = columns.filter(({ isFixed }) => !isFixed).map(({ id }) => id)
  const firstFree = columns.findIndex(({ isFixed }) => !isFixed)
  const fixed = columns.flatMap(({ id, isFixed }, at) => (isFixed ? [{ id, isStart: at < firstFree }] : []))
  const order = stored.filter((id, at) => free.includes(id) && stored.indexOf(id) === at)
  free.forEach((id, at) => {
    if (!order.includes(id)) order.splice(at === 0 ? 0 : order.indexOf(free[at - 1] ?? '') + 1, 0, id)
  })
  return [
    ...fixed.filter(({ isStart }) => isStart).map(({ id }) => id),
    ...order,
    ...fixed.filter(({ isStart }) => !isStart).map(({ id }) => id),
  ]
}

/** Order after a column was moved beside another. */
export function reordered(
  order: readonly string[],
  id: string,
  target: string,
  side: 'before' | 'after',
): readonly string[] {
  const rest = order.filter((other) => other !== id)
  const at = rest.indexOf(target)
  return at < 0 ? order : rest.toSpliced(side === 'before' ? at : at + 1, 0, id)
}

/** Columns to hide so that the rest fits into `widthPx`; 0 means that the width is not known yet. */
export function crowdedOut(
  columns: readonly { readonly id: string; readonly leastPx: number; readonly priority: number | undefined }[],
  widthPx: number,
  gapPx: number,
): ReadonlySet<string> {
  const out = new Set<string>()
  const ranks = [...new Set(columns.flatMap(({ priority }) => priority ?? []))].sort((a, b) => a - b)
  const isTooWide = (): boolean => {
    const rest = columns.filter(({ id }) => !out.has(id))
    return rest.reduce((sum, { leastPx }) => sum + leastPx + gapPx, -gapPx) > widthPx
  }
  for (const rank of widthPx > 0 ? ranks : []) {
    if (!isTooWide()) break
    for (const { id, priority } of columns) if (priority === rank) out.add(id)
  }
  return out
}

const collator = new Intl.Collator('en', { numeric: true })
const compareValues = (a: unknown, b: unknown): number =>
  typeof a === 'number' && typeof b === 'number' ? a - b : collator.compare(String(a), String(b))

const features = tableFeatures({
  columnOrderingFeature,
  columnSizingFeature,
  columnResizingFeature,
  columnVisibilityFeature,
  rowSelectionFeature,
  rowSortingFeature,
  sortedRowModel: createSortedRowModel(),
})
type Features = typeof features

export interface TableModelOptions<Row extends object> {
  tableId: () => string
  columns: () => readonly TableColumn<Row>[]
  rows: () => readonly Row[]
  rowId: (row: Row, index: number) => string
  /** Width of the table, px; 0 until it is measured. */
  widthPx: () => number
  /** Space between columns, and at both ends of a row, px. */
  gapPx: () => number
  insetPx: () => number
  /** True if the table sorts its rows; otherwise the host does. */
  isSortedHere: () => boolean
  /** Sort order that the host applies, or the initial one of the table. */
  sort: () => { readonly id: string; readonly descending: boolean } | null
  canUnsort: () => boolean
  onSort: (id: string | null, descending: boolean) => void
}

/** State of the columns and of the multi-selection of a table. */
export function useTableModel<Row extends object>(options: TableModelOptions<Row>) {
  const store = inject(tableLayouts, memoryLayouts)
  const layout = shallowRef(layoutOf(store.read(options.tableId())))
  const columnOf = computed(() => new Map(options.columns().map((column) => [column.id, column])))
  // As text, so that a view which builds its columns with every frame changes no state.
  const shapeText = computed(() => JSON.stringify(options.columns().map(shapeOf)))
  const shapes = computed(() => JSON.parse(shapeText.value) as Shape[])
  const order = computed(() => completeOrder(shapes.value, layout.value.order))
  const fixed = computed(() => new Set(shapes.value.flatMap(({ id, isFixed }) => (isFixed ? id : []))))

  const valueOf = (id: string, row: Row): string | number | undefined => {
    const column = columnOf.value.get(id)
    const value = column?.value ? column.value(row) : column?.text?.(row)
    return value === null || Number.isNaN(value) ? undefined : value
  }
  const definitions = computed(() =>
    shapes.value.map(({ id, width, minWidth, canSort, sortsDescending }): ColumnDef<Features, Row> => ({
      id,
      size: width,
      minSize: minWidth,
      maxSize: MOST_PX,
      enableSorting: canSort,
      sortDescFirst: sortsDescending,
      sortUndefined: 'last',
      sortFn: (a, b) => compareValues(a.getValue(id), b.getValue(id)),
      accessorFn: (row) => valueOf(id, row),
    })),
  )

  const sortOf = (): SortingState => {
    const now = options.sort()
    return now === null ? [] : [{ id: now.id, desc: now.descending }]
  }
  const ownSort = shallowRef(sortOf())
  const sorting = computed(() => (options.isSortedHere() ? ownSort.value : sortOf()))
  const isSorting = computed(() => options.isSortedHere() && sorting.value.length > 0)
  const NO_ROWS: readonly Row[] = []
  const data = computed(() => (isSorting.value ? options.rows() : NO_ROWS))
  const picks = shallowRef<RowSelectionState>({})

  /** Read at every use, so that a change is visible at once. */
  const state = {
    get columnOrder() {
      return order.value
    },
    get columnSizing() {
      return layout.value.widths
    },
    get columnVisibility() {
      const hidden = shapes.value.flatMap(({ id, isHidden }) => (isHidden ? [[id, false] as const] : []))
      return { ...Object.fromEntries(hidden), ...layout.value.shown }
    },
    get sorting() {
      return sorting.value
    },
    get rowSelection() {
      return picks.value
    },
  }
  const setLayout = (patch: Partial<TableLayout>): void => {
    layout.value = { ...layout.value, ...patch }
  }
  const table = useTable<Features, Row>({
    features,
    columns: definitions,
    data,
    state,
    getRowId: (row, index) => options.rowId(row, index),
    columnResizeMode: 'onChange',
    enableMultiSort: false,
    enableSortingRemoval: computed(() => options.canUnsort()),
    onColumnOrderChange: (update) => setLayout({ order: functionalUpdate(update, order.value) }),
    onColumnSizingChange: (update) =>
      setLayout({ widths: { ...functionalUpdate(update, { ...layout.value.widths }) } }),
    onRowSelectionChange: (update) => (picks.value = functionalUpdate(update, picks.value)),
    onSortingChange: (update) => {
      const [next] = (ownSort.value = functionalUpdate(update, sorting.value))
      options.onSort(next?.id ?? null, next?.desc ?? false)
    },
  })

  /** Columns that the operator wants to see, in order. */
  const wanted = computed(() => table.getVisibleLeafColumns().flatMap(({ id }) => columnOf.value.get(id) ?? []))
  const widthOf = ({ id, width }: TableColumn<Row>): number => table.getColumn(id)?.getSize() ?? width
  const inLine = computed(() => wanted.value.filter(({ isBelow }) => isBelow !== true))
  const crowded = computed(() =>
    crowdedOut(
      inLine.value.map((column) => ({
        id: column.id,
        leastPx: widthOf(column),
        priority: layout.value.shown[column.id] === true ? undefined : column.priority,
      })),
      options.widthPx() === 0 ? 0 : options.widthPx() - 2 * options.insetPx(),
      options.gapPx(),
    ),
  )
  const columns = computed(() => inLine.value.filter(({ id }) => !crowded.value.has(id)))
  const below = computed(() => wanted.value.filter(({ isBelow }) => isBelow === true))
  const hasOwnWidth = (id: string): boolean => Object.hasOwn(layout.value.widths, id)
  const trackOf = (column: TableColumn<Row>): string => {
    const width = `${widthOf(column)}px`
    if (hasOwnWidth(column.id)) return width
    if (column.flex !== undefined) return `minmax(${width}, ${column.flex}fr)`
    return column.maxWidth === undefined ? width : `minmax(${width}, ${column.maxWidth}px)`
  }
  /** Value of `grid-template-columns`. */
  const template = computed(() => columns.value.map(trackOf).join(' '))
  /** Least width of a row, px. */
  const leastPx = computed(() =>
    columns.value.reduce(
      (sum, column) => sum + widthOf(column) + options.gapPx(),
      2 * options.insetPx() - options.gapPx(),
    ),
  )

  const isShown = (id: string): boolean => [...columns.value, ...below.value].some((column) => column.id === id)
  /** Shows or hides a column. One that would be hidden again for lack of width stays shown. */
  function show(id: string, isOn: boolean): void {
    const { [id]: _, ...others } = layout.value.shown
    setLayout({ shown: isOn ? others : { ...others, [id]: false } })
    if (isOn && !isShown(id)) setLayout({ shown: { ...others, [id]: true } })
  }
  /** Columns that the operator can show and hide, in order. */
  const choices = computed(() =>
    table.getAllLeafColumns().flatMap(({ id }) => {
      const column = columnOf.value.get(id)
      return column && column.canHide !== false && column.isFixed !== true ? [column] : []
    }),
  )

  const canMove = (id: string): boolean => !fixed.value.has(id)
  /** Moves a column beside another. @returns false if one of them keeps its place */
  function moveBeside(id: string, target: string, side: 'before' | 'after'): boolean {
    if (id === target || !canMove(id) || !canMove(target)) return false
    table.setColumnOrder([...reordered(order.value, id, target, side)])
    return true
  }
  /** Moves a column by one place among those shown. @returns its new place from 1 and the number of places, or null */
  function moveBy(id: string, by: 1 | -1): { readonly place: number; readonly of: number } | null {
    const at = columns.value.findIndex((column) => column.id === id)
    const neighbor = columns.value[at + by]
    if (at < 0 || !neighbor || !moveBeside(id, neighbor.id, by < 0 ? 'before' : 'after')) return null
    return { place: at + by + 1, of: columns.value.length }
  }

  const isResizing = computed(() => table.atoms.columnResizing.get().isResizingColumn !== false)
  /** Sets the width of a column. `widthPx` is rounded and kept between the limits. */
  function resize(id: string, widthPx: number): void {
    const least = shapes.value.find((shape) => shape.id === id)?.minWidth ?? LEAST_PX
    const width = Math.round(Math.max(least, Math.min(MOST_PX, widthPx)))
    table.setColumnSizing((old) => ({ ...old, [id]: width }))
  }
  /** Follows the pointer until it is released. `widthPx` is the rendered width: a flexible column has no other. */
  function beginResize(event: MouseEvent | TouchEvent, id: string, widthPx: number): void {
    const before = layout.value
    resize(id, widthPx)
    const begun = layout.value.widths[id]
    table
      .getFlatHeaders()
      .find((header) => header.column.id === id)
      ?.getResizeHandler()(event)
    const stop = watch(
      isResizing,
      (isOn) => {
        if (isOn) return
        stop()
        // A press without movement changes nothing.
        if (layout.value.widths[id] === begun) layout.value = before
      },
      { flush: 'sync' },
    )
  }
  const resetWidth = (id: string): void => table.getColumn(id)?.resetSize()
  const isChanged = computed(() => {
    const { order: moved, widths, shown } = layout.value
    return moved.length > 0 || Object.keys(widths).length > 0 || Object.keys(shown).length > 0
  })
  const reset = (): void => void (layout.value = NO_LAYOUT)

  watch(options.tableId, (id) => (layout.value = layoutOf(store.read(id))), { flush: 'sync' })
  watch([layout, isResizing], ([now, isOn]) => {
    if (!isOn) store.write(options.tableId(), isChanged.value ? now : null)
  })

  const directionOf = (id: string): 'ascending' | 'descending' | undefined => {
    const now = sorting.value.find((sort) => sort.id === id)
    return now && (now.desc ? 'descending' : 'ascending')
  }
  const toggleSort = (id: string): void => table.getColumn(id)?.toggleSorting()
  /** Sorts by the column with this letter. @returns false if there is none */
  function sortByKey(letter: string): boolean {
    const column = options.columns().find(({ canSort, sortKey }) => canSort && sortKey === letter)
    if (column) toggleSort(column.id)
    return column !== undefined
  }

  /** Columns as they are copied: those that the operator has not hidden, also if the table is too narrow for them. */
  const textColumns = computed(() =>
    wanted.value.flatMap((column): TextColumn<Row>[] => {
      const { id, compared, isNumber = false } = column
      const title = [column.label ?? column.title, column.unit].filter(Boolean).join(' ')
      if (compared) {
        return (['A', 'B', 'change'] as const).map((part, at) => ({
          id: `${id}.${part.toLowerCase()}`,
          title: `${title} ${part}`,
          isNumber,
          text: (row) => compared.parts(row)[at] ?? '',
        }))
      }
      const { text, value } = column
      return text ? [{ id, title, isNumber, text, ...(value && { value }) }] : []
    }),
  )

  return {
    table,
    columns,
    below,
    choices,
    template,
    leastPx,
    /** Rows in the order of the table. */
    rows: computed(() => (isSorting.value ? table.getRowModel().rows.map(({ original }) => original) : options.rows())),
    /** Ids of the rows in the multi-selection. */
    picked: computed(() => new Set(table.getSelectedRowIds())),
    pick: (ids: Iterable<string>): void =>
      table.setRowSelection(Object.fromEntries([...ids].map((id) => [id, true] as const))),
    textColumns,
    isShown,
    show,
    canMove,
    moveBeside,
    moveBy,
    resize,
    beginResize,
    hasOwnWidth,
    resetWidth,
    isChanged,
    reset,
    directionOf,
    toggleSort,
    sortByKey,
  }
}
export type TableModel<Row extends object> = ReturnType<typeof useTableModel<Row>>
