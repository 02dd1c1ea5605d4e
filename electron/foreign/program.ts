/** Task runner of the process that reads foreign files. */
import { fail, type Failure, type Result } from '#core/base/result.ts'
import { checkFile } from '../history/open-recording.ts'
import { copyUpgraded } from '../history/upgrade-copy.ts'
import { unpackHistory } from '../incidents/bundle/unpack-history.ts'
import { verifyBundle } from '../incidents/bundle/verify.ts'
import type { ForeignTask } from './task.ts'

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
  }
}

/** JSON of the task's Result, limited to `answerChars` characters. */
export async function answerOf(task: ForeignTask, answerChars: number): Promise<string> {
  const text = JSON.stringify(await done(task))
  return text.length <= answerChars ? text : JSON.stringify(fail(tooLong(task.file)))
}
