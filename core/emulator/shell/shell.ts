/**
 * A node's shell: bash as far as an operator's one-liners and Sluice's own commands need it.
 *
 * Everything in a line happens at one virtual time. Unsupported syntax is refused by name (command-line.ts).
 */
import { ok, type Result } from '../../base/result.ts'
import { errnoText, type Errno } from '../../lustre/errno.ts'
import type { ByteText } from '../../lustre/text.ts'
import { exitWith, type ExecResult, type Program } from '../exec.ts'
import type { ReadFile } from './text-input.ts'
import {
  parseCommandLine,
  PID_MARK,
  STATUS_MARK,
  type PathGlob,
  type ShellCommand,
  type ShellStep,
} from './command-line.ts'

/** Interface of a node to its shell. */
export interface ShellHost {
  /** Program of a name on the user's PATH. */
  readonly find: (name: string) => Program | undefined
  readonly glob: PathGlob
  readonly readFile: ReadFile
  /** Opens a file for writing; a failure to open is reported by the shell, a failure to write by the command. */
  readonly openFile: (path: string) => Result<WriteFile, string>
}

/** Writes to an open file, in one write(2). */
export type WriteFile = (text: ByteText) => Errno | undefined

/** Prefix of its messages: `bash: line 1` at the top level, `sh: 1` below `sh -c`. */
export type ShellFlavour = 'bash' | 'sh'

const PREFIX: Readonly<Record<ShellFlavour, string>> = { bash: 'bash: line 1', sh: 'sh: 1' }

/** `$?` and `$$` in a word. */
const expanded = (word: string, { status, pid }: { status: number; pid: number }): string =>
  word.replaceAll(STATUS_MARK, String(status)).replaceAll(PID_MARK, String(pid))

type Target = 'stdout' | 'stderr' | WriteFile

/** Result of a list of commands; `isOver`: ended by `exit`, so nothing after it runs. */
export interface Ran extends ExecResult {
  readonly isOver?: boolean
}

/** Environment of a list of commands. */
interface Scope {
  readonly flavour: ShellFlavour
  readonly input: ByteText
  readonly pid: number
  /** `$?` before its first command. */
  readonly status: number
}

const EVAL_MOST = 16
/** `$$` of a shell with a command line. */
const LINE_PID = 4242

/** True for parser errors that further input may resolve. */
const isUnfinished = (why: string): boolean => /^Unterminated quoted|^end of file unexpected/.test(why)

export class Shell {
  readonly #host: ShellHost
  #evals = 0

  constructor(host: ShellHost) {
    this.#host = host
  }

  /** Runs one command line. Never throws: unsupported syntax is reported on stderr. */
  run(line: string, flavour: ShellFlavour = 'bash', status = 0): ExecResult {
    const { stdout, stderr, code } = this.#line(line, { flavour, input: '', pid: LINE_PID, status })
    return { stdout, stderr, code }
  }

  /** Runs one line of a shell's input; `undefined`: incomplete, needs the next line. */
  read(line: string, pid: number, status: number): Ran | undefined {
    const steps = parseCommandLine(line, this.#host.glob)
    if (!steps.ok && isUnfinished(steps.error)) return undefined
    if (steps.ok && steps.value.length === 0) return exitWith(status, '')
    return this.#line(line, { flavour: 'sh', input: '', pid, status })
  }

  #line(line: string, scope: Scope): Ran {
    const steps = parseCommandLine(line, this.#host.glob)
    if (steps.ok) return this.#list(steps.value, scope)
    return { ...exitWith(2, `${PREFIX[scope.flavour]}: Syntax error: ${steps.error}\n`), isOver: true }
  }

  #list(steps: readonly ShellStep[], scope: Scope): Ran {
    let stdout = ''
    let stderr = ''
    let code = scope.status
    for (const step of steps) {
      if ((step.after === '&&' && code !== 0) || (step.after === '||' && code === 0)) continue
      const r = this.#step(step, { ...scope, status: code })
      stdout += r.stdout
      stderr += r.stderr
      code = r.code
      if (r.isOver) return { stdout, stderr, code, isOver: true }
    }
    return { stdout, stderr, code: steps.length > 0 ? code : 0 }
  }

  #step(step: ShellStep, scope: Scope): Ran {
    let result = this.#command(step, scope)
    let stderr = result.stderr
    for (const next of step.pipe ?? []) {
      // Every part of a pipe is a subshell.
      result = { ...this.#command(next, { ...scope, input: result.stdout }), isOver: false }
      stderr += result.stderr
    }
    return { ...result, stderr }
  }

  /** Runs one command with its redirections; stdout of the result goes into the pipe or to the caller. */
  #command({ words, redirections = [], group }: ShellCommand, scope: Scope): Ran {
    const { flavour } = scope
    const prefix = PREFIX[flavour]
    let { input } = scope
    const targets: [Target, Target] = ['stdout', 'stderr']
    for (const { fd, to } of redirections) {
      if (fd === 0) {
        const read = to === '/dev/null' ? ({ ok: true, value: '' } as const) : this.#host.readFile(to)
        if (!read.ok) return exitWith(1, `${prefix}: ${to}: ${errnoText(read.error)}\n`)
        input = read.value
      } else if (to === '&1' || to === '&2') targets[fd - 1] = targets[Number(to[1]) - 1] as Target
      else {
        const opened = to === '/dev/null' ? ok(() => undefined) : this.#host.openFile(to)
        if (!opened.ok) return exitWith(1, `${prefix}: ${to}: ${opened.error}\n`)
        targets[fd - 1] = opened.value
      }
    }
    if (group) {
      const { stdout, stderr, code } = this.#list(group, { ...scope, input })
      return this.#deliver({ stdout, stderr, code }, targets, '', prefix)
    }
    const [name = '', ...args] = words.map((w) => expanded(w, scope))
    const ran = this.#builtin(name, args, { ...scope, input }) ?? this.#program(name, args, flavour, input)
    return { ...this.#deliver(ran, targets, name, prefix), ...(ran.isOver ? { isOver: true } : {}) }
  }

  #program(name: string, args: readonly string[], flavour: ShellFlavour, input: ByteText): Ran {
    const program = name === '' ? undefined : this.#host.find(name)
    if (program) return program(args, input)
    if (name === '') return exitWith(0, '')
    return exitWith(127, `${PREFIX[flavour]}: ${name}: ${flavour === 'bash' ? 'command not found' : 'not found'}\n`)
  }

  /** Runs builtins that need the shell itself. */
  #builtin(name: string, args: readonly string[], scope: Scope): Ran | undefined {
    const prefix = PREFIX[scope.flavour]
    if (name === 'exit') {
      const text = args[0] ?? String(scope.status)
      if (/^\d{1,9}$/.test(text)) return { ...exitWith(Number(text) & 0xff, ''), isOver: true }
      const why = scope.flavour === 'bash' ? `${text}: numeric argument required` : `Illegal number: ${text}`
      return { ...exitWith(2, `${prefix}: exit: ${why}\n`), isOver: true }
    }
    if (name === 'eval') {
      if (this.#evals >= EVAL_MOST) return exitWith(2, `${prefix}: eval: too deep for this emulated shell\n`)
      this.#evals++
      const ran = this.#line(args.join(' '), scope)
      this.#evals--
      return ran
    }
    if (name !== 'cd') return undefined
    // There are no relative paths here, so the working directory does not matter.
    const to = args[0] ?? '/'
    if (to === '/' || to === '/root' || to === '/tmp') return exitWith(0, '')
    const why = scope.flavour === 'bash' ? `${to}: ${errnoText('ENOENT')}` : `can't cd to ${to}`
    return exitWith(scope.flavour === 'bash' ? 1 : 2, `${prefix}: cd: ${why}\n`)
  }

  /** Writes both streams to their redirections. stderr is not buffered, so it comes before stdout. */
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
