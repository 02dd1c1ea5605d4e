/** `sluice audit`: verifies and exports the audit log, and accepts a damaged one so that writing can continue. */
import { closeSync, openSync, readSync, writeSync } from 'node:fs'
import Database from 'better-sqlite3'
import { Command, InvalidArgumentError } from 'commander'
import { fail, ok, type Result } from '#core/base/result.ts'
import type { AuditRecord } from '../base/audit.ts'
import { followChain, type ChainVerdict } from '../enforce/audit-chain.ts'
import { auditLines, verifyLines } from '../enforce/audit-lines.ts'
import { EnforcementStore, storeFile, thisUser } from '../enforce/store.ts'
import { AuditTable } from '../history/audit-table.ts'
import { APPLICATION_ID } from '../history/schema.ts'
import { dataDir } from '../server/data-dir.ts'
import { line, must, plain, stop, writeOut } from './output.ts'

const SQLITE_HEAD = 'SQLite format 3\0'
const RECORDS_AT_ONCE = 1_000

const unreadable = (file: string, e: unknown): Result<never> =>
  fail({
    code: 'AUDIT_UNREADABLE',
    what: `The audit ${file} cannot be read`,
    why: e instanceof Error ? e.message : String(e),
    next: 'Name the enforcement store, a history, or an exported audit: --file FILE.',
  })

function isDatabase(file: string): boolean {
  const head = Buffer.alloc(SQLITE_HEAD.length)
  const handle = openSync(file, 'r')
  try {
    readSync(handle, head, 0, head.length, 0)
  } finally {
    closeSync(handle)
  }
  return head.toString('latin1') === SQLITE_HEAD
}

/** Verifies the audit table of a history: it held the audit of live clusters before the enforcement store existed. */
function verifyHistory(file: string): ChainVerdict | undefined {
  const db = new Database(file, { readonly: true, fileMustExist: true })
  try {
    if (Number(db.pragma('application_id', { simple: true })) !== APPLICATION_ID) return undefined
    const table = new AuditTable(db)
    function* records(): Generator<AuditRecord> {
      for (let from = 1; ;) {
        const some = table.read('LIVE', from, RECORDS_AT_ONCE)
        yield* some
        const last = some.at(-1)
        if (!last) return
        from = last.number + 1
      }
    }
    return followChain(records())
  } finally {
    db.close()
  }
}

/** Verifies the audit in a store, a history or an exported file. Failures: AUDIT_UNREADABLE, and those of opening a store. */
export function verifyFile(file: string): Result<ChainVerdict & { readonly refused: string | undefined }> {
  try {
    if (!isDatabase(file)) return ok({ ...verifyLines(file), refused: undefined })
    const history = verifyHistory(file)
    if (history) return ok({ ...history, refused: undefined })
    const opened = EnforcementStore.openForReading(file)
    if (!opened.ok) return opened
    try {
      return ok({ ...opened.value.verify(), refused: opened.value.refusal?.why })
    } finally {
      opened.value.close()
    }
  } catch (e) {
    return unreadable(file, e)
  }
}

interface VerifyOptions {
  readonly file?: string
  readonly head?: { readonly number: number; readonly hash: string }
  readonly json?: true
}

const fileOf = (file: string | undefined): string => file ?? storeFile(dataDir())

function headOf(text: string): VerifyOptions['head'] {
  const m = /^(\d{1,15}):([0-9a-f]{64})$/.exec(text)
  if (!m) throw new InvalidArgumentError('NUMBER:HASH, as verify prints it.')
  return { number: Number(m[1]), hash: m[2] ?? '' }
}

/** Verifies the chain, and that the noted head is still in it: a user who can write the file could also rebuild the whole chain. */
function verdictWith(file: string, noted: VerifyOptions['head']): ReturnType<typeof verifyFile> {
  const read = verifyFile(file)
  if (!read.ok || read.value.bad || !noted) return read
  const opened = EnforcementStore.openForReading(file)
  if (!opened.ok) return opened
  const there = opened.value.chain.read(noted.number, 1)[0]
  opened.value.close()
  if (there?.number === noted.number && there.hash === noted.hash) return read
  return ok({ ...read.value, bad: { number: noted.number, why: 'it does not match the given head' } })
}

function verify(options: VerifyOptions): void {
  const file = fileOf(options.file)
  const { records, bad, last, refused } = must(verdictWith(file, options.head))
  if (bad || refused !== undefined) process.exitCode = 1
  if (options.json) {
    const isOk = !bad && refused === undefined
    line(JSON.stringify({ ok: isOk, file, records, bad: bad ?? null, head: last ?? null, refused: refused ?? null }))
    return
  }
  if (bad) line(`record ${bad.number}: ${plain(bad.why)}`)
  if (bad) line(`The audit was altered. The ${records} records before that are intact.`)
  else line(`${records} records, all intact.`)
  if (!bad && last) line(`head ${last.number}:${last.hash}`)
  if (refused !== undefined) line(`Writing to servers is blocked until the audit is accepted: ${plain(refused)}`)
}

/** Waits for a slow reader; a reader that closes the pipe ends the command. */
async function print(lines: Iterable<string>): Promise<void> {
  for (const text of lines) await writeOut(text)
}

async function exportTo(options: { readonly file?: string; readonly output?: string }): Promise<void> {
  const store = must(EnforcementStore.openForReading(fileOf(options.file)))
  try {
    const lines = auditLines(store.chain.each())
    if (options.output === undefined) await print(lines)
    else {
      const handle = openSync(options.output, 'wx', 0o600)
      for (const text of lines) writeSync(handle, text)
      closeSync(handle)
    }
  } catch (e) {
    stop({
      code: 'EXPORT_FAILED',
      what: 'The audit was not exported',
      why: e instanceof Error ? e.message : String(e),
      unaffected: 'The audit itself is unchanged.',
      next: 'Name a file that does not exist yet: -o FILE.',
    })
  } finally {
    store.close()
  }
}

function accept(options: { readonly file?: string; readonly yes?: true }): void {
  const store = must(EnforcementStore.open(fileOf(options.file), Date.now()))
  const { refusal } = store
  if (!refusal) line('The audit is intact: nothing to accept.')
  else if (!options.yes) {
    store.close()
    stop({
      code: 'NOT_AGREED',
      what: 'Nothing was changed',
      why: `it must be confirmed explicitly: ${refusal.why}`,
      next: 'Find out what happened; then: sluice audit accept --yes.',
    })
  } else {
    store.agree(thisUser(), Date.now())
    line(`Accepted by ${plain(thisUser())} and recorded. Writing to servers is enabled again.`)
  }
  store.close()
}

const FILE = ['--file <file>', 'enforcement store, history or exported audit (default: store of this user)'] as const

export function auditCommand(): Command {
  // Set before the subcommands are added: they inherit it.
  const command = new Command('audit').description('audit log of commands sent to servers').exitOverride()
  command
    .command('verify')
    .description('verify the hash chain of all records; exit 1 if one was altered')
    .option(...FILE)
    .option('--head <number:hash>', 'a head noted earlier, which must still be in the chain', headOf)
    .option('--json', 'one JSON document')
    .action(verify)
  command
    .command('export')
    .description('export all records as JSON lines, the head last')
    .option(...FILE)
    .option('-o, --output <file>', 'new file, readable by its owner only (default: standard output)')
    .action(exportTo)
  command
    .command('accept')
    .description('accept an altered audit, so that writing can continue; this is recorded')
    .option(...FILE)
    .option('--yes', 'confirm explicitly')
    .action(accept)
  return command
}
