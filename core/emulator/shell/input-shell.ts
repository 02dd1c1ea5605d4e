/** A shell that reads its commands from its input, as `sh` without arguments does: line by line, each whole. */
import type { ByteText } from '../../lustre/text.ts'
import type { ExecResult } from '../exec.ts'
import type { Shell } from './shell.ts'

/** Of one command that is not complete yet. */
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

  /** Whether it has ended: by `exit`, by a syntax error, or with its input. */
  get isOver(): boolean {
    return this.#isOver
  }

  /** Exit code of the last command, and of the shell once it has ended. */
  get code(): number {
    return this.#code
  }

  /** More of its input: what the commands that are complete with it print. */
  push(input: ByteText): Pick<ExecResult, 'stdout' | 'stderr'> {
    const out = { stdout: '', stderr: '' }
    // Nothing is looked at twice but a command of several lines.
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

  /** Its input has ended: runs what was left of it. */
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
