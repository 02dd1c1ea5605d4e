/**
 * Protocol of stand-ins and the lab with the emulator, through its Unix socket: one request and one answer per connection. Numbers
 * are 32 bits, little endian.
 *
 *     request   length of the rest, number of words, and each word as length and bytes: KIND NODE USER WORD ...
 *     answer    exit code, length of stdout, length of stderr, and both
 *
 * KIND is `run` (a program and its arguments), `line` (a command line for the node's shell) or `speed` (emulated seconds per
 * second, in place of NODE; nothing after it). Texts are byte texts.
 */
import type { ExecResult } from '../base/connection.ts'

/** Linux accepts 128 KiB in one argument, and these are for commands of a console. */
export const REQUEST_BYTES = 256 << 10
const WORDS_MOST = 4096

export interface WireRequest {
  readonly kind: 'run' | 'line' | 'speed'
  readonly node: string
  readonly user: string
  readonly words: readonly string[]
}

const number = (n: number): Buffer => {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(n)
  return bytes
}

export function encodeRequest({ kind, node, user, words }: WireRequest): Buffer {
  const all = [kind, node, user, ...words]
  const body = Buffer.concat([number(all.length), ...all.flatMap((w) => [number(w.length), Buffer.from(w, 'latin1')])])
  return Buffer.concat([number(body.length), body])
}

const isKind = (text: string): text is WireRequest['kind'] => ['run', 'line', 'speed'].includes(text)

/** @returns the request; undefined if it is incomplete, or a description of the error. */
export function decodeRequest(bytes: Buffer): WireRequest | string | undefined {
  if (bytes.length < 4) return undefined
  const length = bytes.readUInt32LE(0)
  if (length > REQUEST_BYTES) return 'the request is too long'
  if (bytes.length < 4 + length) return undefined
  const body = bytes.subarray(4, 4 + length)
  const count = body.length < 4 ? 0 : body.readUInt32LE(0)
  if (count < 3 || count > WORDS_MOST) return 'the request does not name a node and a user'
  const words: string[] = []
  let at = 4
  for (let i = 0; i < count; i++) {
    const end = at + 4 > body.length ? Infinity : at + 4 + body.readUInt32LE(at)
    if (end > body.length) return 'the request is truncated'
    words.push(body.toString('latin1', at + 4, end))
    at = end
  }
  const [kind = '', node = '', user = '', ...rest] = words
  return isKind(kind) ? { kind, node, user, words: rest } : 'the request is of an unknown kind'
}

export const encodeAnswer = ({ code, stdout, stderr }: ExecResult): Buffer =>
  Buffer.concat([
    ...[code, stdout.length, stderr.length].map(number),
    Buffer.from(stdout, 'latin1'),
    Buffer.from(stderr, 'latin1'),
  ])

/** @returns the answer; undefined if it is incomplete. */
export function decodeAnswer(bytes: Buffer): ExecResult | undefined {
  if (bytes.length < 12) return undefined
  const code = bytes.readUInt32LE(0)
  const out = bytes.readUInt32LE(4)
  const err = bytes.readUInt32LE(8)
  if (bytes.length < 12 + out + err) return undefined
  const from = 12 + out
  const to = 12 + out + err
  return { code, stdout: bytes.toString('latin1', 12, from), stderr: bytes.toString('latin1', from, to) }
}
