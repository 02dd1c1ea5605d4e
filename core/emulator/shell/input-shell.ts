/**
 * A shell that reads commands from its input, as `sh` without arguments does: line by line, each complete. It may be replaced by
 * sluice-read, which reads the rest of the input.
 */
import type { ByteText } from '../../lustre/text.ts'
import { COUNTER_PROGRAM, COUNTER_SCRIPT, CounterProgram } from '../counter-program.ts'
import type { ExecResult } from '../exec.ts'
import type { Shell } from './shell.ts'

/** Maximum length of an incomplete command. */
const PENDING_MOST = 1 << 20

const RUN_AS_ROOT = `exec sudo -n ${COUNTER_PROGRAM}\n`

export class InputShell {
  readonly #shell: Shell
  readonly #pid: number
  readonly #counters: (isRoot: boolean) => CounterProgram
  #program: CounterProgram | undefined
  #pending = ''
  #isOver = false
  #code = 0

  /** @param counters  sluice-read, run as root or as the user of the shell. */
  constructor(shell: Shell, pid: number, counters: (isRoot: boolean) => CounterProgram) {
    this.#shell = shell
    this.#pid = pid
    this.#counters = counters
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
    if (this.#program && !this.#isOver) return this.#pass(input, out)
    // Only commands of several lines are parsed more than once.
    let at = 0
    while (!this.#isOver && at < input.length) {
      const end = input.indexOf('\n', at)
      this.#pending += input.slice(at, end < 0 ? undefined : end + 1)
      if (end < 0) break
      at = end + 1
      if (this.#startsProgram(out)) return this.#pass(input.slice(at), out)
      if (!this.#isOver) this.#run(out)
    }
    if (this.#pending.length > PENDING_MOST) this.#isOver = true
    return out
  }

  /** Ends the input: runs the remaining text. */
  end(): ExecResult {
    const out = { stdout: '', stderr: '' }
    if (!this.#isOver && !this.#program && this.#pending !== '' && !this.#run(out)) {
      const { stderr, code } = this.#shell.run(this.#pending, 'sh')
      out.stderr += stderr
      this.#code = code
    }
    this.#isOver = true
    return { ...out, code: this.#code }
  }

  /** True if the pending lines replace the shell by sluice-read: as text, or through sudo. */
  #startsProgram(out: { stdout: string; stderr: string }): boolean {
    const { head, end } = COUNTER_SCRIPT
    if (this.#pending.startsWith(head)) {
      if (this.#pending.endsWith(end)) this.#program = this.#counters(false)
    } else if (this.#pending === RUN_AS_ROOT) {
      const ran = this.#shell.run(this.#pending.slice('exec '.length), 'sh')
      if (ran.code === 0) this.#program = this.#counters(true)
      else {
        out.stderr += ran.stderr
        this.#code = ran.code
        this.#isOver = true
      }
    }
    if (!this.#program) return false
    this.#pending = ''
    out.stdout += CounterProgram.banner
    return true
  }

  #pass(input: ByteText, out: { stdout: string; stderr: string }): Pick<ExecResult, 'stdout' | 'stderr'> {
    out.stdout += this.#program?.push(input) ?? ''
    this.#code = this.#program?.code ?? 0
    this.#isOver = this.#program?.code !== undefined
    return out
  }

  #run(out: { stdout: string; stderr: string }): boolean {
    // A program that is not complete yet.
    if (COUNTER_SCRIPT.head.startsWith(this.#pending) || this.#pending.startsWith(COUNTER_SCRIPT.head)) return false
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
