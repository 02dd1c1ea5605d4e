/** Visible rows of the control hierarchy: rows under a collapsed row are omitted, those that were not sent are counted. */
import type { Level } from '#core/api/frames.ts'
import type { MetadataFrame } from '#core/api/padll.ts'

type Tree = MetadataFrame['tree']

export interface TreeRow {
  /** Unique among the rows. */
  readonly key: string
  readonly kind: 'global' | 'local' | 'stage' | 'more'
  readonly depth: number
  readonly name: string
  readonly jobId: string
  readonly colour: number
  readonly measured: number | null
  readonly limit: number | null
  /** Measured rate at A; undefined: not compared. */
  readonly atA?: number | null | undefined
  readonly level: Level
  readonly why: string
  readonly hasChildren: boolean
  readonly isOpen: boolean
  /** Key of the parent row; empty for the top. */
  readonly parent: string
  /** Number of stages under the row that were not sent. */
  readonly more: number
}

const moreRow = (parent: TreeRow): TreeRow => ({
  ...parent,
  key: `${parent.key}\u0000more`,
  kind: 'more',
  depth: parent.depth + 1,
  name: '',
  jobId: '',
  colour: 0,
  measured: null,
  limit: null,
  level: 'idle',
  why: '',
  hasChildren: false,
  isOpen: false,
  parent: parent.key,
})

/** Returns the rows from the top; `closed` holds the keys of collapsed rows. */
export function treeRows(tree: Tree, closed: ReadonlySet<string>): TreeRow[] {
  const rows: TreeRow[] = []
  /** Open ancestors of the previous row, whose `more` rows are still to be added. */
  const above: TreeRow[] = []
  let hiddenBelow = Infinity
  const leave = (depth: number): void => {
    for (let last = above.at(-1); last && last.depth >= depth; last = above.at(-1)) {
      above.pop()
      if (last.more > 0 && last.isOpen) rows.push(moreRow(last))
    }
  }
  for (let i = 0; i < tree.key.length; i++) {
    const depth = tree.depth[i] ?? 0
    if (depth > hiddenBelow) continue
    hiddenBelow = Infinity
    leave(depth)
    const key = tree.key[i] ?? ''
    const more = tree.more[i] ?? 0
    const hasChildren = (tree.depth[i + 1] ?? -1) > depth || more > 0
    const row: TreeRow = {
      key,
      depth,
      more,
      hasChildren,
      isOpen: hasChildren && !closed.has(key),
      parent: above.at(-1)?.key ?? '',
      kind: tree.kind[i] ?? 'stage',
      name: tree.name[i] ?? '',
      jobId: tree.jobId[i] ?? '',
      colour: tree.colour[i] ?? 0,
      measured: tree.measured[i] ?? null,
      limit: tree.limit[i] ?? null,
      atA: tree.against && (tree.against[i] ?? null),
      level: tree.level[i] ?? 'unknown',
      why: tree.why[i] ?? '',
    }
    rows.push(row)
    if (!row.isOpen && hasChildren) hiddenBelow = depth
    if (hasChildren) above.push(row)
  }
  leave(-1)
  return rows
}

/** Result of a key press at a row: another row to move to, or expand or collapse. */
export type TreeStep = { readonly to: number } | { readonly open: boolean } | null

export function treeStep(rows: readonly TreeRow[], at: number, key: string): TreeStep {
  const last = rows.length - 1
  const row = rows[at]
  if (last < 0) return null
  if (!row) return ['ArrowDown', 'ArrowUp', 'ArrowLeft', 'ArrowRight', 'Home', 'End'].includes(key) ? { to: 0 } : null
  if (key === 'ArrowDown') return { to: Math.min(last, at + 1) }
  if (key === 'ArrowUp') return { to: Math.max(0, at - 1) }
  if (key === 'Home') return { to: 0 }
  if (key === 'End') return { to: last }
  if (key === 'ArrowRight') {
    if (!row.hasChildren) return { to: at }
    return row.isOpen ? { to: Math.min(last, at + 1) } : { open: true }
  }
  if (key === 'ArrowLeft') {
    if (row.isOpen) return { open: false }
    const parent = rows.findIndex((r) => r.key === row.parent)
    return { to: parent < 0 ? at : parent }
  }
  return null
}

const levelTexts: Readonly<Record<Level, string>> = {
  ok: 'below its limit',
  watch: 'watch',
  bad: 'bad',
  idle: 'idle',
  unknown: 'unknown',
}
/** Returns the first clause of a reason, to be shown beside a name. */
export const shortWhy = (why: string): string => why.split(/[,:;]/, 1)[0] ?? ''

/** Formats the state of a row. */
export const stateText = ({ why, level }: Pick<TreeRow, 'why' | 'level'>): string =>
  why === '' ? levelTexts[level] : why
