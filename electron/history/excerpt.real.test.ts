import Database from 'better-sqlite3'
import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { PLAIN } from '#core/snapshot/redactor.ts'
import { tempFolder } from '../../tests/node/temp-folder.ts'
import { writeExcerpt, type ExcerptOptions } from './excerpt.ts'
import type { History } from './history.ts'
import { job, MINUTE_MS, newFile, NOW, openAt, SECOND_MS, target } from '#tests/kits/electron/history/samples.ts'

const SPAN = { fromMs: NOW + MINUTE_MS, toMs: NOW + 3 * MINUTE_MS }
const ALL: ExcerptOptions = { redactor: PLAIN, detail: 'all', keepJobs: new Set() }
const FIT: ExcerptOptions = { ...ALL, detail: 'fit' }

/** Four minutes at a sample a second: `jobs` active in turn, one with a gap, records that sum to zero. */
function fill(history: History, jobs: number, settles = true): void {
  history.beginSource('EMULATED', 'secretcluster', 'secrethost one', NOW)
  const conditions = 'jobid={secretjob.1}&nid={secrethost@tcp}'
  const rule = { queue: 'reg', cpt: 0, name: 'secretrule', conditions, rate: 5, ref: 1 } as const
  history.recordRules(NOW + 1000, 'secrethost', [rule])
  const who = (jobId: string) => ({ jobId, user: 'secretuser', account: 'secretaccount', nodes: 2 })
  for (let s = 0; s < 240; s++) {
    const at = NOW + s * SECOND_MS
    const all = Array.from({ length: jobs }, (_, k) =>
      job(`${k}.secretexe.secretjob`, k === 3 && s === 100 ? null : k * 10 + (s % 7), {
        record: (k % 2 === 0 ? 1 : -1) * 2 ** (20 + (k >> 1)),
        throttled: k === 1 ? 1 : 0,
      }),
    )
    // The last one is active only part of the time.
    history.record(at, s % 3 === 0 ? all : all.slice(0, -1), [target('secrettarget', s)], who, { rpcs: s + 1 })
    history.recordPlane('lock_resources', at, [
      { name: 'secrettarget / 3', place: 'secrethost', jobId: '', values: [s + 1, 2, 3] },
    ])
    if (s % 50 === 10) {
      const texts = { subject: 'secretuser', text: 'secretjob of secretaccount', where: 'secrettarget' }
      history.recordEvent({ atMs: at, kind: 'note', level: 'ok', ...texts })
    }
  }
  const moved = { target: 'secrettarget', node: 'secrethost', kind: 'lend', tokens: 3 } as const
  const lender = '9.secretexe.secretjob.gone'
  const borrower = '1.secretexe.secretjob'
  history.recordMoves([{ atMs: SPAN.fromMs + 5000, lender, borrower, ...moved }], who)
  const allocations = [{ jobId: 'secretjob.x', tokens: 5, record: -2 }]
  const decision = { target: 'secrettarget', budget: 9, allocations } as unknown as Parameters<
    History['recordDecision']
  >[3]
  history.recordDecision(SPAN.fromMs + 5000, 'adaptbf', 'secrethost', decision)
  const counts = {
    locks: 1,
    unused: 2,
    resources: 3,
    granted: 4,
    grants: 5,
    cancels: 6,
    limit: 7,
    timeouts: 8,
    contentions: 9,
  }
  history.recordLdlm(SPAN.fromMs + 5000, 'secrethost', [{ namespace: 'ns-secrettarget', ...counts }])
  history.recordAudit({
    number: 1,
    atMs: SPAN.fromMs + 1,
    server: 'secrethost',
    kind: 'intent',
    text: 'secretjob',
    hash: 'h',
  })
  history.keepControllerState('secretcluster', 'secrettarget', SPAN.fromMs, '{"secretjob":1}')
  history.flush()
  if (settles) history.settle()
}

let history: History
let db: Database.Database
beforeAll(() => {
  history = openAt(newFile())
  fill(history, 12)
  db = new Database(history.file, { readonly: true })
})
afterAll(() => {
  db.close()
  history.close()
})

describe('what is not there', () => {
  it('is anything at all on a real disk without room', async (context) => {
    const folder = join(tempFolder(), 'small')
    mkdirSync(folder)
    try {
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=200k', 'tmpfs', folder], { stdio: 'ignore' })
    } catch {
      context.skip('only root can make a small disk')
    }
    try {
      const full = await writeExcerpt(db, 1, SPAN, join(folder, 'x.qosrec'), FIT)
      expect(full).toMatchObject({ ok: false, error: { code: 'EXCERPT_FAILED' } })
      expect(readdirSync(folder)).toEqual([])
    } finally {
      execFileSync('umount', [folder])
    }
  })
})
