/**
 * A node's shell: bash as far as an operator's one-liners and Sluice's own commands need it.
 *
 * Everything in a line happens at one virtual instant. What a line cannot say is refused by name (words.ts).
 */
import { ok, type Result } from '../../base/result.ts'
import { errnoText, type Errno } from '../../lustre/errno.ts'
import type { ByteText } from '../../lustre/text.ts'
import { exitWith, type ExecResult, type Program } from '../exec.ts'
import type { ReadFile } from './text-input.ts'
import { parseCommandLine, type PathGlob, type ShellCommand, type ShellStep } from '../words.ts'

/** What a shell needs of its node. */
export interface ShellHost {
  /** The program of a name on the user's PATH. */
  readonly find: (name: string) => Program | undefined
  readonly glob: PathGlob
  readonly readFile: ReadFile
  /** Opens a file for writing; a failure is in the shell's own words, one of the write in the command's. */
  readonly openFile: (path: string) => Result<WriteFile, string>
}

/** Writes to an open file, in one write(2). */
export type WriteFile = (text: ByteText) => Errno | undefined

/** How it names itself in messages: `bash: line 1` at the top, `sh: 1` below `sh -c`. */
export type ShellFlavour = 'bash' | 'sh'

const PREFIX: Readonly<Record<ShellFlavour, string>> = { bash: 'bash: line 1', sh: 'sh: 1' }

type Target = 'stdout' | 'stderr' | WriteFile

export class Shell {
  readonly #host: ShellHost

  constructor(host: ShellHost) {
    this.#host = host
  }

  /** Runs one command line. Never throws: what the shell cannot do, it says on stderr. */
  run(line: string, flavour: ShellFlavour = 'bash'): ExecResult {
    const steps = parseCommandLine(line, this.#host.glob)
    if (!steps.ok) return exitWith(2, `${PREFIX[flavour]}: Syntax error: ${steps.error}\n`)
    let stdout = ''
    let stderr = ''
    let code = 0
    for (const step of steps.value) {
      if ((step.after === '&&' && code !== 0) || (step.after === '||' && code === 0)) continue
      const r = this.#step(step, flavour)
      stdout += r.stdout
      stderr += r.stderr
      code = r.code
    }
    return { stdout, stderr, code }
  }

  #step(step: ShellStep, flavour: ShellFlavour): ExecResult {
    let result = this.#command(step, '', flavour)
    let stderr = result.stderr
    for (const next of step.pipe ?? []) {
      result = this.#command(next, result.stdout, flavour)
      stderr += result.stderr
    }
    return { ...result, stderr }
  }

  /** One command with its redirections; stdout of the result is what goes into the pipe or to the caller. */
  #command({ words, redirections = [] }: ShellCommand, input: ByteText, flavour: ShellFlavour): ExecResult {
    const prefix = PREFIX[flavour]
    let stdin = input
    const targets: [Target, Target] = ['stdout', 'stderr']
    for (const { fd, to } of redirections) {
      if (fd === 0) {
        const read = to === '/dev/null' ? ({ ok: true, value: '' } as const) : this.#host.readFile(to)
        if (!read.ok) return exitWith(1, `${prefix}: ${to}: ${errnoText(read.error)}\n`)
        stdin = read.value
      } else if (to === '&1' || to === '&2') targets[fd - 1] = targets[Number(to[1]) - 1] as Target
      else {
        const opened = to === '/dev/null' ? ok(() => undefined) : this.#host.openFile(to)
        if (!opened.ok) return exitWith(1, `${prefix}: ${to}: ${opened.error}\n`)
        targets[fd - 1] = opened.value
      }
    }
    const [name = '', ...args] = words
    const program = name === '' ? undefined : this.#host.find(name)
    const ran = program
      ? program(args, stdin)
      : name === ''
        ? exitWith(0, '')
        : exitWith(127, `${prefix}: ${name}: ${flavour === 'bash' ? 'command not found' : 'not found'}\n`)
    return this.#deliver(ran, targets, name, prefix)
  }

  /** Sends both streams where the redirections want them. stderr is not buffered, so it comes before stdout. */
  #deliver(ran: ExecResult, targets: readonly [Target, Target], name: string, prefix: string): ExecResult {
    const out = { stdout: '', stderr: '' }
    let { code } = ran
    const streams = [
      [ran.stderr, targets[1]],
      [ran.stdout, targets[0]],
    ] as const
    for (const [text, target] of streams) {
      if (typeof target === 'string') {
        out[target] += text
        continue
      }
      const errno = text === '' ? undefined : target(text)
      if (errno === undefined) continue
      const isBuiltin = name === 'echo' || name === 'printf'
      out.stderr += `${isBuiltin ? `${prefix}: ` : ''}${name}: write error: ${errnoText(errno)}\n`
      code = 1
    }
    return { ...out, code }
  }
}
