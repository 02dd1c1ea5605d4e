import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isLockRange } from '#core/seqdlm/ranges.ts'
import { anyMessage } from '#tests/kits/electron/ccpfs/any-message.ts'
import { WireReader, WireWriter } from './bytes.ts'
import { FrameSplitter } from './frames.ts'
import { FRAME_MAX, HEAD_BYTES, readMessage, writeMessage, type WireMessage } from './messages.ts'

function encoded(messages: readonly WireMessage[]): Buffer {
  // A small capacity: frames cross its buffers.
  const to = new WireWriter(64)
  for (const m of messages) writeMessage(to, m)
  const { length } = to
  const all = Buffer.concat(to.take())
  expect(all.length).toBe(length)
  return all
}

interface Decoded {
  readonly messages: WireMessage[]
  readonly why: string | undefined
}

/** Decodes a stream that arrives in chunks of these sizes, repeated. */
function decoded(stream: Buffer, sizes: readonly number[]): Decoded {
  const frames = new FrameSplitter(HEAD_BYTES, FRAME_MAX)
  const messages: WireMessage[] = []
  let why: string | undefined
  for (let at = 0, i = 0; at < stream.length && why === undefined; i++) {
    const size = Math.max(1, sizes[i % sizes.length] ?? 1)
    why =
      frames.push(Buffer.from(stream.subarray(at, at + size)), (buffer, start, end) => {
        const m = readMessage(new WireReader(buffer, start, end))
        if (typeof m === 'string') why = m
        else messages.push(m)
        return typeof m !== 'string'
      }) ?? why
    at += size
  }
  return { messages, why }
}

const message = anyMessage(fc.maxSafeNat())
const sizes = fc.array(fc.nat({ max: 3000 }), { minLength: 1, maxLength: 8 })

describe('messages on the wire', () => {
  it('arrive as they were sent, however the stream is cut', () => {
    fc.assert(
      fc.property(fc.array(message, { maxLength: 6 }), sizes, (messages, chunks) => {
        expect(decoded(encoded(messages), chunks)).toEqual({ messages, why: undefined })
      }),
    )
  })

  it('of which any byte is changed are refused or still valid, and never throw', () => {
    fc.assert(
      fc.property(message, fc.nat(), fc.integer({ min: 1, max: 255 }), (m, at, change) => {
        const stream = encoded([m])
        const i = 4 + (at % (stream.length - 4))
        stream[i] = (stream[i] as number) ^ change
        const { messages, why } = decoded(stream, [stream.length])
        expect(messages.length === 1).toBe(why === undefined)
        for (const found of messages) {
          if (found.kind === 'lock-request') expect(isLockRange(found.range)).toBe(true)
          if (found.kind !== 'flush-request') continue
          for (const b of found.blocks) {
            expect(b.end).toBeGreaterThan(b.start)
            expect(b.data?.length ?? b.end - b.start).toBe(b.end - b.start)
          }
        }
      }),
    )
  })

  it('that are shorter or longer than their content are refused', () => {
    fc.assert(
      fc.property(message, fc.nat(), (m, cut) => {
        const whole = encoded([m])
        const shorter = 4 + (cut % (whole.length - 4))
        const truncated = Buffer.from(whole.subarray(0, shorter))
        truncated.writeUInt32LE(shorter - 4, 0)
        // Some kinds end in bytes of any length.
        const isOpen = ['call', 'result'].includes(m.kind)
        const { messages } = decoded(truncated, [shorter])
        if (!isOpen) expect(messages).toEqual([])
        const longer = Buffer.concat([whole, Buffer.alloc(1)])
        longer.writeUInt32LE(longer.length - 4, 0)
        if (!isOpen) expect(decoded(longer, [longer.length]).messages).toEqual([])
      }),
    )
  })

  it.each([
    ['a frame that is too long', [0xff, 0xff, 0xff, 0xff, 1, 1, 0, 0], '4294967295 bytes'],
    ['a frame without a kind', [2, 0, 0, 0, 1, 1], '2 bytes'],
    ['another version', [4, 0, 0, 0, 2, 0x1b, 0, 0], 'version 2'],
    ['an unknown kind', [4, 0, 0, 0, 1, 0x7f, 0, 0], 'kind 127'],
    ['reserved bytes', [4, 0, 0, 0, 1, 0x1b, 1, 0], 'reserved'],
    ['a list beyond its frame', [8, 0, 0, 0, 1, 0x14, 0, 0, 255, 255, 255, 0], 'longer than its frame'],
    [
      'a number beyond 2^53',
      [20, 0, 0, 0, 1, 0x13, 0, 0, 0, 0, 0, 0, 0, 0, 0x20, 0, 1, 0, 0, 0, 0, 0, 0, 0],
      'beyond its range',
    ],
  ])('refuse %s with the reason', (_, stream, why) => {
    const found = decoded(Buffer.from(stream), [stream.length])
    expect(found.messages).toEqual([])
    expect(found.why).toContain(why)
  })
})
