/**
 * Effects of operations, and a check that one order explains them: strict serialisability over the precedence graph, and the
 * content that must remain at the end. Source: spec/seqdlm 14, I4, I7.
 */
import { invariant } from '#core/base/result.ts'
import type { ClientId, ResourceId } from '#core/seqdlm/messages.ts'

/** Bytes of one object as one operation wrote them. */
export interface Version {
  readonly resource: ResourceId
  readonly start: number
  /** Exclusive. */
  readonly end: number
  readonly sn: number
}

export interface Operation {
  readonly id: number
  readonly client: ClientId
  readonly label: string
  /** Value of the bytes that it writes; 0 for a truncate. */
  readonly value: number
  invokedAt: number
  /** Infinity if it never returned. */
  respondedAt: number
  /** Order of effect in the caches, over all operations. */
  effect: number
  versions: readonly Version[]
  /** Values seen by a read: object, offset, value. */
  seen: readonly (readonly [ResourceId, number, number])[]
}

interface Write {
  readonly op: Operation
  readonly sn: number
}

/** Writes of each byte in the order that the protocol guarantees: SN, then order under that lock. */
export class ByteOrder {
  readonly #writes = new Map<string, Write[]>()
  readonly #bound: number

  /** @param bound  bytes of an object beyond which only holes were written. */
  constructor(operations: readonly Operation[], bound: number) {
    this.#bound = bound
    for (const op of operations) {
      for (const { resource, start, end, sn } of op.versions) {
        for (let at = start; at < Math.min(end, this.#bound); at++) {
          const key = `${resource}:${at}`
          const list = this.#writes.get(key)
          if (list === undefined) this.#writes.set(key, [{ op, sn }])
          else list.push({ op, sn })
        }
      }
    }
    for (const list of this.#writes.values()) list.sort((a, b) => a.sn - b.sn || a.op.effect - b.op.effect)
  }

  of(resource: ResourceId, at: number): readonly Write[] {
    return this.#writes.get(`${resource}:${at}`) ?? []
  }

  *[Symbol.iterator](): Generator<readonly Write[], void, void> {
    yield* this.#writes.values()
  }

  /**
   * Values that a byte may have when everything is flushed: that of the last write, or of a later one whose client crashed.
   *
   * @param lost  clients whose dirty data may be lost.
   */
  finalValues(resource: ResourceId, at: number, lost: ReadonlySet<ClientId>): Set<number> {
    const values = new Set<number>()
    const writes = this.of(resource, at)
    for (let i = writes.length - 1; i >= 0; i--) {
      const { op } = writes[i] as Write
      values.add(op.value)
      if (!lost.has(op.client)) return values
    }
    return values.add(0)
  }
}

/**
 * Checks that the operations are strictly serialisable: the precedence graph of writes in byte order, reads after the writes they
 * saw and before those they did not, and operations after those that had returned before, has no cycle.
 *
 * @throws InvariantError naming the cycle.
 */
export function checkSerialisable(operations: readonly Operation[], order: ByteOrder): void {
  const after = new Map<Operation, Set<Operation>>(operations.map((op) => [op, new Set()]))
  const edge = (a: Operation, b: Operation): void => {
    if (a !== b) after.get(a)?.add(b)
  }
  for (const a of operations) for (const b of operations) if (a.respondedAt < b.invokedAt) edge(a, b)
  for (const writes of order)
    for (let i = 1; i < writes.length; i++) edge((writes[i - 1] as Write).op, (writes[i] as Write).op)
  for (const read of operations) {
    for (const [resource, at, value] of read.seen) {
      const writes = order.of(resource, at)
      // Zero may be the initial content or that of a truncate.
      if (value === 0 && writes.some((w) => w.op.value === 0)) continue
      const i = value === 0 ? -1 : writes.findIndex((w) => w.op.value === value)
      invariant(value === 0 || i >= 0, `I4: ${read.label} saw ${value} at ${resource}:${at}, which no client wrote`)
      const writer = writes[i]
      const next = writes[i + 1]
      if (writer !== undefined) edge(writer.op, read)
      if (next !== undefined) edge(read, next.op)
    }
  }
  const circle = circleIn(after)
  invariant(circle === null, `I7: no order explains ${circle?.map((op) => `#${op.id} ${op.label}`).join(' -> ')}`)
}

function circleIn(after: ReadonlyMap<Operation, ReadonlySet<Operation>>): Operation[] | null {
  const done = new Set<Operation>()
  const path: Operation[] = []
  const visit = (op: Operation): Operation[] | null => {
    if (done.has(op)) return null
    const at = path.indexOf(op)
    if (at >= 0) return [...path.slice(at), op]
    path.push(op)
    for (const next of after.get(op) ?? []) {
      const circle = visit(next)
      if (circle !== null) return circle
    }
    path.pop()
    done.add(op)
    return null
  }
  for (const op of after.keys()) {
    const circle = visit(op)
    if (circle !== null) return circle
  }
  return null
}
