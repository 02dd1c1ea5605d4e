/** Answers of a node played by a test: its output, and failures. */
import { fail, ok, type Result } from '#core/base/result.ts'
import type { ExecResult } from '#electron/base/connection.ts'

export const printed = (stdout: string, stderr = '', code = 0): Result<ExecResult> => ok({ stdout, stderr, code })

/** No answer: the connection failed. @param what  text of the failure. */
export const lost = (what = 'connection lost'): Result<never> => fail({ code: 'SSH_LOST', what })

/** The same answer with another text on stdout. */
export const edited = (ran: Result<ExecResult>, edit: (stdout: string) => string): Result<ExecResult> =>
  ran.ok ? ok({ ...ran.value, stdout: edit(ran.value.stdout) }) : ran
