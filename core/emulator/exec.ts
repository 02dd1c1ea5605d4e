/** Result of a command in a shell. */
import type { ByteText } from '../lustre/text.ts'

export interface ExecResult {
  /** Byte text: one char code 0..255 per byte. */
  readonly stdout: ByteText
  readonly stderr: ByteText
  readonly code: number
}

/** A program on a node's PATH: takes arguments and standard input, returns its result; takes no virtual time. */
export type Program = (args: readonly string[], stdin: ByteText) => ExecResult

export const done = (stdout: ByteText = ''): ExecResult => ({ stdout, stderr: '', code: 0 })

export const exitWith = (code: number, stderr: ByteText, stdout: ByteText = ''): ExecResult => ({
  stdout,
  stderr,
  code,
})
