/** AdapTBF in the console: its records and debts through gaps, odd input and restarts, and its settings. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { describe, expect, it } from 'vitest'
import { demo, emulatedCluster } from '../../../tests/node/emulated-cluster.ts'
import { tempFolder } from '../../../tests/node/temp-folder.ts'
import { History } from '../../history/history.ts'
import { debtsAt } from '../../host/views/pairs.ts'
import { LedgerStateStore } from './ledger-state-store.ts'
import type { ClusterMonitor } from '../monitor.ts'
import { jobColumn, shareColumn, shareName } from '../state/recent.ts'

const RECORD = shareColumn('record')

const open = (file: string): History => {
  const opened = History.open(file, 0)
  if (!opened.ok) throw new Error(opened.error.why)
  return opened.value
}
/** Claims less debts of every job at a sample. */
function balances(monitor: ClusterMonitor, sample: number, target: string): Map<string, number> | undefined {
  const debts = debtsAt(monitor, sample, target)
  if (!debts) return undefined
  const sums = new Map<string, number>()
  for (const { lender, borrower, tokens } of debts) {
    expect(tokens).toBeGreaterThan(0)
    sums.set(lender, (sums.get(lender) ?? 0) + tokens)
    sums.set(borrower, (sums.get(borrower) ?? 0) - tokens)
  }
  return sums
}
/** Pairs and records of every job agree at a sample, on every target and in total; returns jobs with a record. */
function expectEven(monitor: ClusterMonitor, sample: number): number {
  const { raw, shares } = monitor.recent
  let withRecord = 0
  for (const target of ['', ...monitor.targets.map((t) => t.target)]) {
    const sums = balances(monitor, sample, target)
    expect(sums).toBeDefined()
    let total = 0
    for (const { jobId } of monitor.jobs.all) {
      const name = shareName(jobId, target)
      const record =
        target === '' ? raw.jobs.value(jobId, jobColumn('record'), sample) : shares.value(name, RECORD, sample)
      expect(sums?.get(jobId) ?? 0, `${jobId} on ${target} at ${sample}`).toBe(Number.isNaN(record) ? 0 : record)
      total += Number.isNaN(record) ? 0 : record
      if (record !== 0 && !Number.isNaN(record)) withRecord++
    }
    expect(total).toBe(0)
  }
  return withRecord
}

describe('a restart of the console', () => {
  it('after a kill finds moves and state that belong together: the moves add up to the debts', async () => {
    const file = join(tempFolder(), 'h.sqlite')
    const url = (path: string): string => JSON.stringify(new URL(path, import.meta.url).href)
    const script = `
      import { History } from ${url('../../history/history.ts')}
      import { demo, emulatedCluster } from ${url('../../../tests/node/emulated-cluster.ts')}
      const history = History.open(${JSON.stringify(file)}, 0).value
      const c = emulatedCluster(demo(), { kind: 'LIVE', history })
      for (let s = 1; ; s++) {
        await c.run(s)
        process.stdout.write(s + '\\n')
      }`
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    let seconds = 0
    for await (const part of child.stdout.setEncoding('utf8')) {
      seconds += String(part).split('\n').length - 1
      if (seconds >= 5) break
    }
    child.kill('SIGKILL')
    await once(child, 'exit')

    const db = new Database(file, { readonly: true })
    const owed = new Map<string, number>()
    const rows = db
      .prepare(
        `SELECT t.name AS target, a.job_id AS lender, b.job_id AS borrower, kind, tokens FROM adaptbf_moves
         JOIN target AS t ON t.id = target JOIN job AS a ON a.id = lender JOIN job AS b ON b.id = borrower`,
      )
      .all() as { target: string; lender: string; borrower: string; kind: string; tokens: number }[]
    for (const { target, lender, borrower, kind, tokens } of rows) {
      const key = JSON.stringify([target, lender, borrower])
      owed.set(key, (owed.get(key) ?? 0) + (kind === 'lend' ? tokens : -tokens))
    }
    db.close()
    const replayed = [...owed].filter(([, tokens]) => tokens !== 0).sort()
    expect(replayed.length).toBeGreaterThan(4)

    const c = emulatedCluster(demo(), { kind: 'LIVE', history: open(file) })
    const kept = new LedgerStateStore(c.monitor.source, c.history)
    const restored = ['demo-OST0000', 'demo-OST0001', 'demo-OST0002', 'demo-OST0003'].flatMap((target) => {
      const loaded = kept.load(target)
      const pairs = loaded.ok ? (loaded.value?.state.pairs.pairs ?? []) : []
      return pairs.map((p): [string, number] => [JSON.stringify([target, p.lender, p.borrower]), p.lent - p.reclaimed])
    })
    expect(restored.sort()).toEqual(replayed)
    await c.run(3, () => c.monitor.sample > 0 && expectEven(c.monitor, c.monitor.sample))
    expect(c.monitor.failures).toEqual([])
    c.history.close()
  })
})
