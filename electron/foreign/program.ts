/** Task runner of the process that reads foreign files. */
import { closeSync, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { fail, type Failure, type Result } from '#core/base/result.ts'
import { checkFile, openChecked, readerOf } from '../history/open-recording.ts'
import { runQuery } from '../history/sql.ts'
import { copyUpgraded } from '../history/upgrade-copy.ts'
import { unpackHistory } from '../incidents/bundle/unpack-history.ts'
import { verifyBundle } from '../incidents/bundle/verify.ts'
import { ROWS_FILE, type ForeignTask } from './task.ts'

const tooLong = (file: string): Failure => ({
  code: 'FILE_TOO_LARGE',
  what: `${file} was not opened`,
  why: 'the answer about it exceeds the size limit',
  unaffected: 'It was not changed.',
  next: 'Copy the file again from its origin.',
})

function done(task: ForeignTask): Result<unknown> | Promise<Result<unknown>> {
  switch (task.kind) {
    case 'check':
      return checkFile(task.file)
    case 'upgrade':
      return copyUpgraded(task.file, task.folder)
    case 'verify':
      return verifyBundle(task.file, task.folder)
    case 'unpack':
      return unpackHistory(task.file, task.folder)
    case 'query':
      return query(task)
  }
}

const OWNER_ONLY = 0o600

function query(task: Extract<ForeignTask, { kind: 'query' }>): Result<unknown> {
  const opened = openChecked(task.checked)
  if (!opened.ok) return opened
  const reader = readerOf(opened.value, task.cluster)
  if (!reader.ok) return reader
  const rows = openSync(join(task.folder, ROWS_FILE), 'wx', OWNER_ONLY)
  try {
    const source = { reader: reader.value, db: opened.value.db, cluster: reader.value.id }
    return runQuery(source, task.query, (lines) => void writeSync(rows, lines))
  } finally {
    closeSync(rows)
    reader.value.close()
  }
}

/** JSON of the task's Result, limited to `answerChars` characters. */
export async function answerOf(task: ForeignTask, answerChars: number): Promise<string> {
  const text = JSON.stringify(await done(task))
  return text.length <= answerChars ? text : JSON.stringify(fail(tooLong(task.file)))
}
