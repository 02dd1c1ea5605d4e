/**
 * Threads that claim tokens at full speed against a monitor that refills the pool at full speed: no grant is lost to a CAS, none
 * is made twice. The monitor's clock is advanced manually, so that conversions follow each other without delay.
 */
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { expect, it } from 'vitest'
import { QosMonitor } from '#core/haechi/qos-monitor.ts'
import type { MonitorPeriod } from '#core/haechi/monitor-events.ts'
import type { ConversionRule } from '#core/controllers/settings.ts'
import { DEFAULT_SETTINGS } from '#core/haechi/settings.ts'
import { NodeMemory } from './node-memory.ts'
import type { HammerTask, HammerTold } from '#tests/kits/electron/haechi/hammer.ts'

const THREADS = 3
const GRANTS = 100_000
const BATCH = 40
/** Minimum number of CASes that lose against a FAA. */
const RACES = 10
/** Tokens per period: about as many as the threads claim during the monitor's checks. */
const OMEGA = 400_000

interface Ran {
  readonly periods: readonly MonitorPeriod[]
  readonly reported: readonly HammerTold[]
}

async function hammered(conversion: ConversionRule): Promise<Ran> {
  const shape = { slots: THREADS, records: 1 }
  const made = NodeMemory.allocate(shape)
  if (!made.ok) throw new Error(made.error.what)
  const memory = made.value
  const claimed = memory.claimMonitor()
  if (!claimed.ok) throw new Error(claimed.error.what)
  const { tokens, key } = claimed.value
  const periods: MonitorPeriod[] = []
  const monitor = new QosMonitor({
    settings: { ...DEFAULT_SETTINGS, conversion, estimator: { ...DEFAULT_SETTINGS.estimator, enabled: false } },
    profile: { globalIops: OMEGA, localIops: OMEGA },
    port: {
      swapPool: (expected, desired, epoch) => tokens.swapPool(key, expected, desired, epoch),
      readSlot: (slot) => tokens.slot(slot),
      send: () => undefined,
    },
    observer: { event: () => undefined, period: (period) => periods.push(period) },
  })
  const mailboxes = Array.from({ length: THREADS }, (_, slot) => memory.mailbox(slot))
  const reported = mailboxes.map((_, slot) => {
    const workerData: HammerTask = { ...shape, buffer: memory.buffer, slot, batch: BATCH }
    const thread = new Worker(join(import.meta.dirname, '../../tests/kits/electron/haechi/hammer.ts'), {
      workerData,
      execArgv: [],
    })
    return new Promise<HammerTold>((resolve, reject) => {
      thread.on('message', resolve)
      thread.on('error', reject)
    })
  })
  let now = 0
  monitor.start(now)
  const counters = mailboxes.map((_, slot) => memory.counters(slot))
  const grants = (): number => counters.reduce((sum, c) => sum + c.granted, 0)
  const races = (): number => periods.reduce((sum, p) => sum + p.casRaces, 0)
  while (grants() < GRANTS || races() < RACES) {
    const { epoch } = monitor
    while (monitor.epoch === epoch) {
      now = monitor.wakeAt
      const isLast = now >= monitor.periodStart + DEFAULT_SETTINGS.periodNs
      // Every thread claims in every period, and therefore knows the current one.
      while (isLast && counters.some((c) => c.lastGrants.epoch !== epoch)) await new Promise(setImmediate)
      monitor.onWake(now)
    }
  }
  for (const mailbox of mailboxes) mailbox.give('stop')
  const all = await Promise.all(reported)
  // The claims of the last period are known at its end.
  const last = monitor.epoch
  while (monitor.epoch === last) monitor.onWake((now = monitor.wakeAt))
  return { periods, reported: all }
}

it.each<ConversionRule>(['ledger', 'literal'])(
  `accounts for every token of ${GRANTS} grants of ${THREADS} threads while it converts (%s)`,
  { timeout: 120_000 },
  async (rule) => {
    const { periods, reported } = await hammered(rule)
    const granted = periods.map(({ epoch }) => reported.reduce((sum, t) => sum + (t.tokens.get(epoch) ?? 0), 0))
    expect(granted).toEqual(periods.map(({ claimed }) => claimed))
    const total = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0)
    expect(total(reported.flatMap((t) => [...t.tokens.values()]))).toBe(total(periods.map((p) => p.claimed)))
    for (const t of reported) expect(t.grants).toBeGreaterThan(0)
    expect(total(reported.map((t) => t.grants))).toBeGreaterThanOrEqual(GRANTS)
    if (rule === 'ledger') for (const p of periods) expect(p.claimed).toBeLessThanOrEqual(p.omega)
  },
)
