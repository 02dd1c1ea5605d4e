/**
 * Command lines as bytes. They are byte text (one char code 0..255 per byte), as answers are, so that a job id of any
 * bytes survives.
 */
import { fail, ok } from '#core/base/result.ts'
import type { SshResult } from './failures.ts'
import { COMMAND_BYTES } from './limits.ts'

export function commandBytes(command: string): SshResult<Buffer> {
  const refuse = (why: string): SshResult<never> =>
    fail({ code: 'SSH_COMMAND_TEXT', what: 'The command was not sent', why })
  if (command.length > COMMAND_BYTES) return refuse(`it has more than ${COMMAND_BYTES} bytes`)
  // A command line cannot contain NUL.
  if (/[^\x01-\xff]/.test(command)) return refuse('it has a NUL, or characters that are not bytes')
  return ok(Buffer.from(command, 'latin1'))
}
