/** Thread that claims tokens at full speed until it is stopped: one FAA after another, of different sizes. */
import { parentPort, workerData } from 'node:worker_threads'
import { randomStream } from '#core/base/random.ts'
import { usablePart } from '#core/haechi/claim.ts'
import { epochNear } from '#core/haechi/pool-word.ts'
import { NodeMemory } from '#electron/haechi/node-memory.ts'
import type { NodeShape } from '#electron/haechi/layout.ts'

export interface HammerTask extends NodeShape {
  readonly buffer: SharedArrayBuffer
  readonly slot: number
  readonly batch: number
}

export interface HammerTold {
  /** Granted tokens, by epoch. */
  readonly tokens: ReadonlyMap<number, number>
  /** FAAs that owned at least one token; all FAAs. */
  readonly grants: number
  readonly faas: number
}

function hammer({ buffer, slots, records, slot, batch }: HammerTask): HammerTold {
  const node = NodeMemory.of(buffer, { slots, records })
  const access = node.admit(slot, batch)
  if (!access.ok) throw new Error(access.error.what)
  const { tokens, keys } = access.value
  const random = randomStream(slot, 'hammer')
  const mailbox = node.mailbox(slot)
  const counters = node.counters(slot)
  const told = { tokens: new Map<number, number>(), grants: 0, faas: 0 }
  let epoch = 0
  while (mailbox.order === 'run') {
    const take = 1 + random.below(batch)
    const pool = tokens.take(keys, take)
    if (!pool.ok) throw new Error(pool.error.what)
    epoch = epochNear(pool.value.epoch, epoch)
    const usable = usablePart(pool.value.tokens, take)
    told.faas++
    if (usable > 0) {
      told.grants++
      told.tokens.set(epoch, (told.tokens.get(epoch) ?? 0) + usable)
    }
    // The monitor does not end a period before every thread has claimed in it.
    counters.publishGrant(told.grants, epoch, usable)
  }
  return told
}

parentPort?.postMessage(hammer(workerData as HammerTask))
