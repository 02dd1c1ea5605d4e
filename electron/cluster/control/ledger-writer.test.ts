/** The writer of the ledger on a live cluster: moves and states of a target together, in slices. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { AdapTbfController } from '#core/adaptbf/controller.ts'
import type { ClusterSource } from '../../base/connection.ts'
import { History } from '../../history/history.ts'
import type { ServerPeriod } from './control-loop.ts'
import { LedgerStateStore } from './ledger-state-store.ts'
import { LedgerWriter } from './ledger-writer.ts'
import type { TargetControllers } from './target-controllers.ts'

const TARGETS = Array.from({ length: 12 }, (_, i) => `OST${i}`)
const SECOND = 1_700_000_000_000
const state = new AdapTbfController({ maxRatePerSec: 1000 }).save()

function setup() {
  const opened = History.open(':memory:', SECOND)
  if (!opened.ok) throw new Error(opened.error.why)
  const history = opened.value
  history.beginSource('LIVE', 'c', '', SECOND)
  const source = { kind: 'LIVE', cluster: 'c', toUnixMs: (ns: number) => ns / 1e6 } as unknown as ClusterSource
  const store = new LedgerStateStore(source, history)
  const controllers = { save: () => TARGETS.map((t) => [t, state] as const) } as unknown as TargetControllers
  const writer = new LedgerWriter(history, controllers, store, () => ({
    jobId: '',
    user: '',
    account: '',
    nodes: null,
  }))
  /** Periods with 100 moves on each target. */
  const moves = Array.from({ length: 100 }, (_, i) => ({ lender: `l${i}`, borrower: 'b', lent: i + 1, reclaimed: 0 }))
  const periods = [
    { host: 'oss', reports: new Map(TARGETS.map((t) => [t, { held: undefined, moves }])) },
  ] as unknown as ServerPeriod[]
  const take = (ms: number): void => writer.take(ms * 1e6, ms, periods)
  /** Targets with a state and with moves in the file. */
  const written = (): [number, number] => [
    TARGETS.filter((t) => history.controllerState('c', t) !== undefined).length,
    new Set(history.moves({ fromMs: 0, toMs: Infinity, limit: 1e6 }).map((m) => m.target)).size,
  ]
  return { history, store, writer, take, written }
}

describe('the ledger of a live cluster', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  it('is written in slices, a target with its moves and its state at once', () => {
    const { history, take, written } = setup()
    const timers = vi.getTimerCount()
    take(SECOND)
    history.flush()
    const seen = [written()]
    for (let i = 0; i < 2; i++) {
      vi.advanceTimersByTime(100)
      seen.push(written())
    }
    expect(seen).toEqual([
      [5, 5],
      [10, 10],
      [12, 12],
    ])
    expect(vi.getTimerCount()).toBe(timers)
  })

  it('is written whole when the cluster is closed, with the second in progress', () => {
    const { history, take, written, writer } = setup()
    const timers = vi.getTimerCount()
    take(SECOND)
    take(SECOND + 400)
    writer.close()
    history.flush()
    expect(written()).toEqual([12, 12])
    expect(history.moves({ fromMs: 0, toMs: Infinity, limit: 1e6 })[0]?.tokens).toBe(2)
    expect(vi.getTimerCount()).toBe(timers)
  })

  it('keeps no state from before the states were deleted', () => {
    const { store, take, written } = setup()
    take(SECOND)
    store.forget()
    vi.advanceTimersByTime(900)
    expect(written()).toEqual([0, 12])
  })
})
