/**
 * Frames that separate the outputs of commands on one shell.
 *
 * The shell gets on one line of its standard input:
 *
 *     echo b''N $$;echo b''N $$ >&2;(eval 'COMMAND')</dev/null;echo e''N $?;echo e''N 0 >&2
 *
 * N is 128 random bits, new for every command. The output of the command cannot contain the mark, since it does not
 * know N; nor can a shell that echoes its input produce it, since the mark is written in two halves. COMMAND is one
 * quoted word whatever it contains; it runs in a subshell, so that `exit`, `cd`, a syntax error or an assignment ends
 * with it; it cannot read the commands that follow. `$$` is the pid of the shell and of its group: an SSH signal does
 * not reach the processes of root (sshd has no privilege separation there).
 *
 * Output of a background process between two commands is dropped; during a command it cannot be distinguished from its
 * output.
 */
import { shellQuote } from '#core/lustre/lctl.ts'
import { Output } from './exec.ts'

/** Length of a mark's number and its newline. */
const NUMBER_BYTES = 12

export interface Frame {
  readonly line: Buffer
  readonly begin: Buffer
  readonly end: Buffer
}

/** @param nonce  32 hexadecimal digits, used once. */
export function frameOf(command: string, nonce: string): Frame {
  // The blank keeps a command that begins with a dash from being an option of eval.
  const run = `(eval ${shellQuote(` ${command}`)})</dev/null`
  const line = `echo b''${nonce} $$;echo b''${nonce} $$ >&2;${run};echo e''${nonce} $?;echo e''${nonce} 0 >&2\n`
  return { line: Buffer.from(line, 'latin1'), begin: Buffer.from(`b${nonce} `), end: Buffer.from(`e${nonce} `) }
}

/** One stream of a command: text before its begin mark is dropped, text up to its end mark is kept. */
export class FrameStream {
  readonly #frame: Frame
  readonly #noiseBytes: number
  readonly #output: Output
  #state: 'before' | 'inside' | 'after' = 'before'
  /** Bytes that may be the beginning of a mark. */
  #held: Buffer = Buffer.alloc(0)
  #noise = 0
  code: number | undefined
  /** pid of the shell on the server. */
  pid: number | undefined

  constructor(frame: Frame, most: number, noiseBytes: number) {
    this.#frame = frame
    this.#output = new Output(most)
    this.#noiseBytes = noiseBytes
  }

  get isDone(): boolean {
    return this.#state === 'after'
  }

  /** Bytes dropped before the begin mark. */
  get noise(): number {
    return this.#noise
  }

  text(): string {
    return this.#output.text()
  }

  /** @returns error of the stream: too much output, too much noise, or an invalid end mark. */
  push(chunk: Buffer): 'ok' | 'much' | 'noise' | 'broken' {
    if (this.#state === 'after') return 'ok'
    let bytes = this.#held.length > 0 ? Buffer.concat([this.#held, chunk]) : chunk
    if (this.#state === 'before') {
      const { begin } = this.#frame
      const at = bytes.indexOf(begin)
      const number = at < 0 ? undefined : numberAt(bytes, at + begin.length)
      if (number === undefined) {
        const keep = at < 0 ? Math.min(bytes.length, begin.length - 1) : bytes.length - at
        this.#held = Buffer.from(bytes.subarray(bytes.length - keep))
        this.#noise += bytes.length - keep
        return this.#noise > this.#noiseBytes ? 'noise' : 'ok'
      }
      if (number === 'none') return 'broken'
      this.#noise += at
      this.#state = 'inside'
      this.pid = number.value
      bytes = bytes.subarray(number.end)
    }
    return this.#inside(bytes)
  }

  #inside(bytes: Buffer): 'ok' | 'much' | 'broken' {
    const { end } = this.#frame
    const at = bytes.indexOf(end)
    if (at < 0) {
      const keep = Math.min(bytes.length, end.length - 1)
      this.#held = Buffer.from(bytes.subarray(bytes.length - keep))
      return this.#take(bytes.subarray(0, bytes.length - keep))
    }
    const number = numberAt(bytes, at + end.length)
    if (number === 'none') return 'broken'
    if (number === undefined) {
      this.#held = Buffer.from(bytes.subarray(at))
      return this.#take(bytes.subarray(0, at))
    }
    this.#state = 'after'
    this.#held = Buffer.alloc(0)
    this.code = number.value
    return this.#take(bytes.subarray(0, at))
  }

  #take(bytes: Buffer): 'ok' | 'much' {
    return bytes.length === 0 || this.#output.push(bytes) ? 'ok' : 'much'
  }
}

/** Parses a decimal number and a newline; undefined while incomplete. */
function numberAt(bytes: Buffer, at: number): { readonly value: number; readonly end: number } | 'none' | undefined {
  const text = bytes.toString('latin1', at, at + NUMBER_BYTES)
  const line = /^(\d{1,10})\n/.exec(text)
  if (line?.[1] !== undefined) return { value: Number(line[1]), end: at + line[0].length }
  return /^\d{0,10}$/.test(text) ? undefined : 'none'
}
