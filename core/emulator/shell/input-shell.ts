/** A shell that reads commands from its input, as `sh` without arguments does: line by line, each complete. */
import type { ByteText } from '../../lustre/text.ts'
import type { ExecResult } from '../exec.ts'
import type { Shell } from './shell.ts'

/** Maximum length of an incomplete command. */
const PENDING_MOST = 1 << 20

export class InputShell {
  readonly #shell: Shell
  readonly #pid: number
  #pending = ''
  #isOver = false
  #code = 0

  constructor(shell: Shell, pid: number) {
    this.#shell = shell
    this.#pid = pid
  }

  /** True after `exit`, a syntax error, or the end of its input. */
  get isOver(): boolean {
    return this.#isOver
  }

  /** Exit code of the last command; after the end, of the shell. */
  get code(): number {
    return this.#code
  }

  /** Adds input; returns the output of the commands that it completes. */
  push(input: ByteText): Pick<ExecResult, 'stdout' | 'stderr'> {
    const out = { stdout: '', stderr: '' }
    // Only commands of several lines are parsed more than once.
    let at = 0
    while (!this.#isOver && at < input.length) {
      const end = input.indexOf('\n', at)
      this.#pending += input.slice(at, end < 0 ? undefined : end + 1)
      if (end < 0) break
      at = end + 1
      this.#run(out)
    }
    if (this.#pending.length > PENDING_MOST) this.#isOver = true
    return out
  }

  /** Ends the input: runs the remaining text. */
  end(): ExecResult {
    const out = { stdout: '', stderr: '' }
    if (!this.#isOver && this.#pending !== '' && !this.#run(out)) {
      const { stderr, code } = this.#shell.run(this.#pending, 'sh')
      out.stderr += stderr
      this.#code = code
    }
    this.#isOver = true
    return { ...out, code: this.#code }
  }

  #run(out: { stdout: string; stderr: string }): boolean {
    const ran = this.#shell.read(this.#pending, this.#pid, this.#code)
    if (!ran) return false
    this.#pending = ''
    out.stdout += ran.stdout
    out.stderr += ran.stderr
    this.#code = ran.code
    this.#isOver = ran.isOver === true
    return true
  }
}
