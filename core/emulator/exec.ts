/** What running a command yields, as any shell has it. */
export interface ExecResult {
  /** Byte text: one char code 0..255 per byte. */
  readonly stdout: string
  readonly stderr: string
  readonly code: number
}

/** A program on a node's PATH: arguments in, result out, at one virtual instant. */
export type Program = (args: readonly string[]) => ExecResult
