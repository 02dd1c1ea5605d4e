/**
 * Transport between a command such as `sluice padll …` or `sluice haechi …` and the daemon of its node: one connection per command,
 * one line of JSON each way. Commands and answers are defined in core/padll/console.ts and core/haechi/console.ts.
 */
import { connect, type Socket } from 'node:net'
import * as z from 'zod'
import { fail, ok, type Result } from '#core/base/result.ts'
import { privateSocket } from './private-socket.ts'

/** Answer of a daemon to a command, as that command prints it. */
export interface ControlAnswer {
  readonly stdout: string
  readonly stderr: string
  /** 0 done, 1 refused, 2 not understood. */
  readonly code: number
}

/** A policy text of a million characters, escaped. */
const REQUEST_MAX = 8 << 20
const ANSWER_MAX = 256 << 20
const TIMEOUT_MS = 10_000

const request = z.object({ args: z.array(z.string().max(1000)).max(100), stdin: z.string() })
const answer = z.object({ stdout: z.string(), stderr: z.string(), code: z.number().int() })

/** Reads one line; undefined if the connection ends before, or the line is too long. */
function readLine(socket: Socket, most: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = []
    let length = 0
    const done = (line?: string): void => {
      socket.off('data', onData)
      resolve(line)
    }
    const onData = (chunk: Buffer): void => {
      const at = chunk.indexOf(10)
      chunks.push(at < 0 ? chunk : chunk.subarray(0, at))
      length += chunk.length
      if (length > most) done()
      else if (at >= 0) done(Buffer.concat(chunks).toString('utf8'))
    }
    socket.on('data', onData)
    socket.once('close', () => done())
    socket.once('error', () => done())
  })
}

/** Answers one command on a connection and ends it. */
export async function serveCommand(
  socket: Socket,
  act: (args: readonly string[], stdin: string) => ControlAnswer | Promise<ControlAnswer>,
): Promise<void> {
  socket.setTimeout(TIMEOUT_MS, () => socket.destroy())
  const line = await readLine(socket, REQUEST_MAX)
  if (line === undefined) return void socket.destroy()
  let document: unknown
  try {
    document = JSON.parse(line)
  } catch {
    return void socket.destroy()
  }
  const parsed = request.safeParse(document)
  if (!parsed.success) return void socket.destroy()
  socket.end(`${JSON.stringify(await act(parsed.data.args, parsed.data.stdin))}\n`)
}

/**
 * Sends one command to the daemon at a socket.
 *
 * @param who  the daemon in messages: `the global controller`.
 * @returns its answer; null if nothing listens there. CONTROL_FAILED if the answer is not valid; failures of `privateSocket` if
 *          the socket may belong to another user, who is then sent nothing.
 */
export async function sendCommand(
  path: string,
  args: readonly string[],
  stdin: string,
  who = 'the global controller',
): Promise<Result<ControlAnswer | null>> {
  const failed = (why: string): Result<never> => fail({ code: 'CONTROL_FAILED', what: `No answer of ${who}`, why })
  const found = privateSocket(path)
  if (!found.ok) return found
  if (!found.value) return ok(null)
  const socket = connect(path)
  const trouble = await new Promise<NodeJS.ErrnoException | undefined>((resolve) => {
    socket.once('connect', () => resolve(undefined))
    socket.once('error', resolve)
  })
  if (trouble) {
    const isAbsent = trouble.code === 'ENOENT' || trouble.code === 'ECONNREFUSED'
    return isAbsent ? ok(null) : failed(trouble.message)
  }
  socket.setTimeout(TIMEOUT_MS, () => socket.destroy())
  socket.write(`${JSON.stringify({ args, stdin })}\n`)
  const line = await readLine(socket, ANSWER_MAX)
  socket.destroy()
  if (line === undefined) return failed(`no answer of valid length within ${TIMEOUT_MS / 1000} s`)
  try {
    const read = answer.safeParse(JSON.parse(line))
    return read.success ? ok(read.data) : failed('its answer is not valid')
  } catch {
    return failed('its answer is not valid')
  }
}
