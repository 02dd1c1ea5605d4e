/** Layout of the holder and waiter graph: at most five nodes per side, those that block the oldest request first. */
import type { Held, ResourceState, Waiting } from './resource-state.ts'

export const WIDTH = 312
export const NODE_W = 118
export const NODE_PX = 30
const NODES_MAX = 5
const PITCH = 40
const TOP = 24
const LEFT_EDGE = 16 + NODE_W
const RIGHT_EDGE = WIDTH - 16 - NODE_W

export interface Graph {
  /** `isHot`: the holder blocks the oldest request. */
  readonly holders: readonly { readonly held: Held; readonly y: number; readonly isHot: boolean }[]
  readonly waiters: readonly { readonly waiting: Waiting; readonly y: number }[]
  readonly edges: readonly {
    readonly key: string
    readonly path: string
    readonly isHot: boolean
    readonly isDashed: boolean
  }[]
  readonly moreHolders: number
  readonly moreWaiters: number
  /** y of the state text, below the holders. */
  readonly stateY: number
  readonly height: number
}

export function graphOf({ holders, waiters }: ResourceState): Graph {
  const oldest = waiters[0]
  const blocking = new Set(oldest?.forHolders)
  // Holders that block the oldest request are always drawn.
  const first = holders.filter((h) => blocking.has(h.life.id))
  const rest = holders.filter((h) => !blocking.has(h.life.id)).sort((a, b) => b.blocks - a.blocks)
  const kept = new Set([...first, ...rest].slice(0, waiters.length > 0 && holders.length > NODES_MAX ? 4 : NODES_MAX))
  const y = (i: number): number => TOP + i * PITCH
  const left = holders
    .filter((h) => kept.has(h))
    .map((held, i) => ({ held, y: y(i), isHot: blocking.has(held.life.id) }))
  const right = waiters.slice(0, NODES_MAX).map((waiting, i) => ({ waiting, y: y(i) }))
  const middle = NODE_PX / 2
  const leftY = new Map(left.map((node) => [node.held.life.id, node.y + middle]))
  const rightY = new Map(right.map((node) => [node.waiting.life.id, node.y + middle]))

  const edges = right.flatMap(({ waiting, y: top }, i) => {
    const from = top + middle
    const solid = waiting.forHolders.flatMap((id) => {
      const to = leftY.get(id)
      const path = `M${RIGHT_EDGE} ${from}C${RIGHT_EDGE - 24} ${from} ${LEFT_EDGE + 24} ${to} ${LEFT_EDGE} ${to}`
      return to === undefined ? [] : [{ key: `${waiting.life.id} ${id}`, path, isHot: i === 0, isDashed: false }]
    })
    // Of the older requests only the last gets an edge: it waits for those before it.
    const behind = waiting.forWaiters.filter((id) => rightY.has(id)).at(-1)
    const to = behind === undefined ? undefined : rightY.get(behind)
    const bend = RIGHT_EDGE - 14
    const dashed =
      to === undefined
        ? []
        : [
            {
              key: `${waiting.life.id} after`,
              isHot: false,
              isDashed: true,
              path: `M${RIGHT_EDGE} ${from - 4}C${bend} ${from - 4} ${bend} ${to + 4} ${RIGHT_EDGE} ${to + 4}`,
            },
          ]
    return [...solid, ...dashed]
  })
  const rows = Math.max(2, left.length, right.length)
  return {
    holders: left,
    waiters: right,
    // Amber edges are drawn last, on top.
    edges: edges.sort((a, b) => Number(a.isHot) - Number(b.isHot)),
    moreHolders: holders.length - left.length,
    moreWaiters: waiters.length - right.length,
    stateY: y(left.length) - 2 + (left.length === 0 ? 24 : 0),
    height: Math.max(
      y(rows) + (waiters.length > right.length ? 14 : 6),
      y(left.length) + (holders.length > left.length ? 46 : 32),
      150,
    ),
  }
}
