/** What running a command yields, as any shell has it. */
import type { ByteText } from '../lustre/text.ts'

export interface ExecResult {
  /** Byte text: one char code 0..255 per byte. */
  readonly stdout: ByteText
  readonly stderr: ByteText
  readonly code: number
}

/** A program on a node's PATH: arguments and standard input in, result out, at one virtual instant. */
export type Program = (args: readonly string[], stdin: ByteText) => ExecResult

export const done = (stdout: ByteText = ''): ExecResult => ({ stdout, stderr: '', code: 0 })

export const exitWith = (code: number, stderr: ByteText, stdout: ByteText = ''): ExecResult => ({
  stdout,
  stderr,
  code,
})
