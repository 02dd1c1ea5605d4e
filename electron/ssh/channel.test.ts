import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { frameOf, FrameStream } from './frame.ts'

const N = '0123456789abcdef0123456789abcdef'

describe('a frame', () => {
  const stream = (most = 1e6): FrameStream => new FrameStream(frameOf('x', N), most, 1000)

  it('holds its mark in two halves, so that a shell that echoes does not answer', () => {
    const { line, begin, end } = frameOf("echo 'x'", N)
    expect(line.includes(begin)).toBe(false)
    expect(line.includes(end)).toBe(false)
  })

  it('yields the bytes between its marks, however they are cut', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 80 }),
        fc.string({ maxLength: 20 }),
        fc.integer({ min: 0, max: 255 }),
        fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 200, maxLength: 200 }),
        (body, noise, code, cuts) => {
          const bytes = Buffer.concat([
            Buffer.from(noise),
            Buffer.from(`b${N} 4711\n`),
            body,
            Buffer.from(`e${N} ${code}\nafter`),
          ])
          const s = stream()
          for (let p = 0; p < bytes.length;) {
            const n = cuts.pop() ?? 1
            expect(s.push(bytes.subarray(p, p + n))).toBe('ok')
            p += n
          }
          expect([s.isDone, s.code, s.pid, s.text()]).toEqual([true, code, 4711, Buffer.from(body).toString('latin1')])
        },
      ),
    )
  })

  it('is not ended by a mark without a code, by another nonce, or by what comes before it began', () => {
    const s = stream()
    expect(s.push(Buffer.from(`e${N} 0\nb${N} 1\nx`))).toBe('ok')
    expect(s.push(Buffer.from(`e${'f'.repeat(32)} 0\n`))).toBe('ok')
    expect(s.isDone).toBe(false)
    expect(s.push(Buffer.from(`e${N} zero\n`))).toBe('broken')
    expect(s.isDone).toBe(false)
  })

  it('stops at its bounds', () => {
    expect(stream(10).push(Buffer.from(`b${N} 1\n${'x'.repeat(100)}`))).toBe('much')
    expect(stream().push(Buffer.from('x'.repeat(2000)))).toBe('noise')
  })
})
