/**
 * Cost of an incident that an alert opens on a cluster of 12 servers and 10,000 jobs: the longest time that the host is
 * blocked.
 */
import type { Entry } from '#core/alerts/alert-store.ts'
import { fail } from '#core/base/result.ts'
import type { Bench } from '../../../bench/measure.ts'
import { consoleOf } from '../console.ts'
import { ActiveView } from '../active-view.ts'
import { jobIdOf, largeMonitor } from '../../../bench/large-rule-service.ts'
import { NotebookService } from './notebook-service.ts'
import { AlertIncidents, APART_MS } from './alert-service.ts'

const JOBS = 10_000
const SECONDS = 600
/** Interval between samples, s: keeps the setup short; the amount read at once does not depend on it. */
const APART_S = 5

async function filled() {
  const monitor = await largeMonitor(JOBS)
  const { history, targets } = monitor
  const ids = Array.from({ length: JOBS }, (_, i) => jobIdOf(i))
  const facts = (jobId: string) => ({ jobId, user: jobId.slice(jobId.lastIndexOf('.') + 1), account: 'a', nodes: 4 })
  const from = monitor.nowMs() - SECONDS * 1000
  for (let s = 0; s < SECONDS; s += APART_S) {
    const jobs = ids.map((jobId, i) => ({
      jobId,
      rpcs: 1 + ((i * 37 + s) % 500),
      readBps: i * 4096,
      writeBps: i,
      throttled: 0,
      record: 0,
      mdops: 0,
    }))
    const of = targets.map(({ target, node }, i) => ({
      target,
      node,
      rpcs: 900 + i,
      serviceMs: s > SECONDS / 2 ? 60 : 3,
      queued: s > SECONDS / 2 ? 400 : 5,
    }))
    history.record(from + s * 1000, jobs, of, facts, {
      rpcs: 2e6,
      readBps: 1e9,
      writeBps: 1e10,
      serviceMs: 5,
      queued: 100,
      rules: 3,
    })
  }
  history.settle()
  const console = consoleOf(monitor, {
    facts: {
      env: 'DEMO',
      sinceMs: 0,
      seed: 0,
      speed: () => 1,
      achieved: () => 1,
      safeMode: () => 'review',
      unlockedUntilMs: () => null,
    },
    setSpeed: undefined,
  })
  const notebooks = new NotebookService({
    onScreen: new ActiveView(console),
    dataDir: undefined,
    changed: () => undefined,
    run: () => fail({ code: 'NO_RUN', what: 'there is no result' }),
    stagedRun: () => fail({ code: 'NO_RUN', what: 'there is no result' }),
  })
  return { cluster: monitor.source.cluster, atMs: monitor.nowMs(), notebooks }
}
let world: ReturnType<typeof filled> | undefined
let opened = 0

const spentMs = (): number => {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

async function open(): Promise<{ whole: number; longest: number }> {
  const { cluster, atMs, notebooks } = await (world ??= filled())
  // Each is the first of its hour.
  const incidents = new AlertIncidents(notebooks, () => 2 * APART_MS * opened++)
  const entry: Entry = {
    id: `alert-${opened}`,
    kind: 'queue',
    level: 'bad',
    text: 'oss0 has a queue',
    where: 'oss0',
    fromMs: atMs,
    endMs: null,
    others: 0,
    returns: 0,
  }
  const steps = incidents.beginInSteps(cluster, entry, atMs)
  let whole = 0
  let longest = 0
  for (;;) {
    const from = spentMs()
    const step = steps.next()
    const ms = spentMs() - from
    whole += ms
    longest = Math.max(longest, ms)
    if (step.done !== true) continue
    if (step.value === null) throw new Error('no incident was opened')
    return { whole, longest }
  }
}

export const benches: readonly Bench[] = [
  {
    id: 'incident.open-10000-jobs',
    unit: 'ms',
    must: { most: 20 },
    note: 'the longest time for which the host does nothing else while an alert opens an incident; 10,000 jobs, ten minutes kept; processor time; the bound is our own target',
    beside: 'all of it at once',
    limit:
      'All jobs are named with the first block that is read, and compared and sorted after the last: each is done in one piece.',
    run: async () => (await open()).longest,
    baseline: async () => (await open()).whole,
  },
]
