import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ClassIndex } from './class-index.ts'
import { classKey, type Field, type RequestKey } from './request-key.ts'

const ALL: readonly Field[] = ['jobid', 'nid', 'opcode', 'uid', 'gid', 'projid', 'nodemap']
const id = fc.option(fc.constantFrom(0, 1, 0xffff_ffff), { nil: undefined })
const request: fc.Arbitrary<RequestKey> = fc
  .record({
    jobId: fc.constantFrom('', 'a', 'b', '1'),
    nid: fc.constantFrom('a', '1', '0@lo'),
    opcode: fc.option(fc.constantFrom('ost_read', 'ost_write'), { nil: undefined }),
    uid: id,
    gid: id,
    projid: id,
    nodemap: fc.option(fc.nat(2), { nil: undefined }),
  })
  .map((r) => Object.fromEntries(Object.entries(r).filter(([, v]) => v !== undefined)) as unknown as RequestKey)

describe('ClassIndex', () => {
  it('finds the class of a request exactly when the keys put together are the same, also after others left', () => {
    fc.assert(
      fc.property(
        fc.subarray([...ALL], { minLength: 1 }),
        fc.array(fc.tuple(request, fc.boolean()), { maxLength: 60 }),
        (fields, steps) => {
          const index = new ClassIndex<{ key: string }>(fields)
          const known = new Map<string, ReturnType<typeof index.add>>()
          for (const [r, leaves] of steps) {
            const key = classKey(fields, r)
            expect(index.get(r)?.key).toBe(known.has(key) ? key : undefined)
            const entered = known.get(key)
            if (!entered) known.set(key, index.add(r, { key }))
            else if (leaves) {
              index.remove(entered)
              known.delete(key)
            }
          }
        },
      ),
    )
  })
})
