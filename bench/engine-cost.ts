/**
 * Per-I/O overhead of an engine's thread besides copying: tokens, FAAs on shared memory, ticks and reports, compared with a
 * client without tokens. In CPU time of this thread and without the copies, whose cost varies by more than this overhead.
 */
import { invariant } from '#core/base/result.ts'
import { BareEngine } from '#core/haechi/bare-engine.ts'
import { QosEngine } from '#core/haechi/qos-engine.ts'
import { threadCpuNs } from '#electron/haechi/clock.ts'
import { NodeMemory } from '#electron/haechi/node-memory.ts'
import { NODE_SETTINGS } from '#electron/haechi/node-setup.ts'

const TOKENS = 2 ** 40
const BACKLOG = 2 ** 29
/** Time of a record's copy, ns: advances the clock, so that ticks and reports have their real frequency. */
const COPY_NS = 450

/** CPU time per I/O, ns, of `ios` I/Os with completions in batches of `batch`. */
export function engineCost(mode: 'haechi' | 'bare', batch: number, ios: number): number {
  const memory = NodeMemory.allocate({ slots: 1, records: 1 })
  invariant(memory.ok, 'there is memory for a record')
  const claimed = memory.value.claimMonitor()
  const access = memory.value.admit(0, NODE_SETTINGS.batch)
  invariant(claimed.ok && access.ok, 'new memory has no monitor and no client')
  const { tokens, keys } = access.value
  claimed.value.tokens.swapPool(claimed.value.key, tokens.pool().tokens, TOKENS, 1)

  let posted = 0
  let take = 0
  const post = (n: number): void => void (posted += n)
  const qos = new QosEngine(NODE_SETTINGS, {
    postIo: post,
    faa: (n) => void (take = n),
    writeReport: (report) => void tokens.report(keys, report),
  })
  const engine = mode === 'haechi' ? qos : new BareEngine(NODE_SETTINGS.window, post)
  if (mode === 'haechi') {
    qos.onPeriodStart(0, { kind: 'period-start', epoch: 1, reservation: 0, limit: null })
    qos.onStartReport({ kind: 'start-report', epoch: 1 })
  }
  engine.onRequest(BACKLOG)
  const began = threadCpuNs()
  for (let done = 0; done < ios;) {
    const now = done * COPY_NS
    if (qos.wakeAt <= now) qos.onWake(now)
    if (take > 0) {
      const pool = tokens.take(keys, take)
      invariant(pool.ok, 'an engine asks for no more than a batch')
      take = 0
      qos.onFaaReply(now, pool.value.tokens, NODE_SETTINGS.batch, 1)
    }
    const n = posted < batch ? posted : batch
    posted -= n
    done += n
    engine.onCompletion(n)
  }
  return (threadCpuNs() - began) / ios
}
