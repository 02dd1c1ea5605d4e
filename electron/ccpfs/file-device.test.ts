/** Storage of a data server: files against the device of core/seqdlm in memory, and the extent log after cuts of its file. */
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmdirSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { MemoryDevice } from '#core/seqdlm/device.ts'
import type { Block } from '#core/seqdlm/messages.ts'
import { EOF } from '#core/seqdlm/ranges.ts'
import { tempFolder } from '../../tests/node/temp-folder.ts'
import { ExtentLogFile } from './extent-log-file.ts'
import { FileDevice } from './file-device.ts'

const LENGTH = 300

/** Disjoint ascending blocks of one write: data, holes, and a last hole to the end. */
const write: fc.Arbitrary<Block[]> = fc
  .tuple(
    fc.uniqueArray(fc.nat({ max: LENGTH }), { minLength: 2, maxLength: 8 }),
    fc.array(fc.constantFrom('data', 'data', 'hole', 'none'), { minLength: 8, maxLength: 8 }),
    fc.boolean(),
    fc.integer({ min: 1, max: 255 }),
  )
  .map(([offsets, kinds, isOpen, value]) => {
    const sorted = offsets.sort((a, b) => a - b)
    const blocks: Block[] = []
    for (let i = 0; i + 1 < sorted.length; i++) {
      const start = sorted[i] ?? 0
      const end = sorted[i + 1] ?? 0
      if (kinds[i] === 'none') continue
      const hole = kinds[i] === 'hole'
      blocks.push({ start, end, sn: 1, data: hole ? null : Buffer.alloc(end - start, value), hole })
    }
    if (isOpen) blocks.push({ start: sorted.at(-1) ?? 0, end: EOF, sn: 1, data: null, hole: true })
    return blocks
  })

const written = (device: FileDevice, resource: number, blocks: readonly Block[]): Promise<void> =>
  new Promise((resolve) => device.write(resource, blocks, resolve))
const read = (device: FileDevice, resource: number): Promise<Uint8Array | null> =>
  new Promise((resolve) => device.read(resource, 0, LENGTH + 20, resolve))

describe('objects in files', () => {
  it('have the content and size of the model, also when they are opened again', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(write, { minLength: 1, maxLength: 12 }), async (writes) => {
        const folder = tempFolder()
        const model = new MemoryDevice(true)
        // Without content its sizes count truncated zeros below the end, as files do.
        const sizes = new MemoryDevice(false)
        const device = new FileDevice(folder, { onFault: () => undefined })
        const pending = writes.map((blocks, i) => {
          model.write(i % 2, blocks, () => undefined)
          for (const b of blocks) sizes.write(i % 2, [b], () => undefined)
          return written(device, i % 2, blocks)
        })
        await Promise.all(pending)
        const check = async (one: FileDevice): Promise<void> => {
          for (const resource of [0, 1]) {
            let content: Uint8Array | null = null
            model.read(resource, 0, LENGTH + 20, (data) => (content = data))
            expect(Buffer.from((await read(one, resource)) ?? [])).toEqual(Buffer.from(content ?? []))
            expect(one.size(resource)).toBe(sizes.size(resource))
          }
        }
        await check(device)
        await device.close()
        const again = new FileDevice(folder, { onFault: () => undefined })
        await check(again)
        await again.close()
      }),
      { numRuns: 40 },
    )
  })

  it('take effect in the order of the calls and keep no file of size 0', async () => {
    const folder = tempFolder()
    const device = new FileDevice(folder, { onFault: () => undefined })
    const done: number[] = []
    for (let i = 0; i < 20; i++) {
      device.write(7, [{ start: 0, end: 4, sn: i, data: Buffer.alloc(4, i), hole: false }], () => void done.push(i))
    }
    device.write(7, [], () => void done.push(20))
    await expect.poll(() => done.length).toBe(21)
    expect(done).toEqual(Array.from({ length: 21 }, (_, i) => i))
    expect((await read(device, 7))?.slice(0, 5)).toEqual(Buffer.from([19, 19, 19, 19, 0]))
    const file = join(folder, '07/7')
    expect(statSync(file).size).toBe(4)
    expect(await new Promise((resolve) => device.sync(7, resolve))).toBe(0)
    await written(device, 7, [{ start: 0, end: EOF, sn: 30, data: null, hole: true }])
    expect(existsSync(file)).toBe(false)
    await device.close()
  })

  it('that cannot be written are tried again, and a sync names the error', async () => {
    const folder = tempFolder()
    const faults: number[] = []
    const device = new FileDevice(folder, { onFault: (resource, errno) => void (resource === 5 && faults.push(errno)) })
    // A folder in the place of the file.
    const file = join(folder, '05/5')
    mkdirSync(file)
    let isDone = false
    device.write(5, [{ start: 0, end: 2, sn: 1, data: Buffer.from('ok'), hole: false }], () => (isDone = true))
    await expect.poll(() => faults.length).toBe(1)
    expect(faults[0]).toBeGreaterThan(0)
    expect(isDone).toBe(false)
    expect(await new Promise((resolve) => device.sync(5, resolve))).toBe(faults[0])
    rmdirSync(file)
    await expect.poll(() => isDone).toBe(true)
    expect(faults[1]).toBe(0)
    expect(readFileSync(file, 'utf8')).toBe('ok')
    await device.close()
  })
})

describe('the extent log', () => {
  const content = (log: ExtentLogFile): unknown =>
    [...log.resources()].map((r) => [r, log.highestSn.get(r), [...log.replay(r)]])

  it('is the same when it is opened again', () => {
    const file = join(tempFolder(), 'log')
    const log = new ExtentLogFile(file)
    log.append(3, [
      { start: 0, end: 4096, sn: 1 },
      { start: 8192, end: EOF, sn: 2 },
    ])
    log.append(4, [{ start: 0, end: 10, sn: 9 }])
    log.append(3, [{ start: 2048, end: 6000, sn: 5 }])
    log.truncate(4)
    log.flush()
    const before = content(log)
    log.close()
    const again = new ExtentLogFile(file)
    expect(content(again)).toEqual(before)
    expect(again.tornBytes).toBe(0)
    expect(again.highestSn.get(4)).toBe(9)
    expect([...again.replay(3)]).toEqual([
      { start: 0, end: 2048, sn: 1 },
      { start: 2048, end: 6000, sn: 5 },
      { start: 8192, end: EOF, sn: 2 },
    ])
    again.close()
  })

  it('cut at any byte has the records before the cut, and continues after them', () => {
    const folder = tempFolder()
    const file = join(folder, 'log')
    const log = new ExtentLogFile(file)
    const ends: number[] = []
    for (let i = 1; i <= 5; i++) {
      log.append(1, [{ start: i * 10, end: i * 10 + 10, sn: i }])
      log.flush()
      ends.push(log.bytes)
    }
    log.close()
    const part = join(folder, 'part')
    for (let bytes = 0; bytes <= (ends.at(-1) ?? 0); bytes++) {
      copyFileSync(file, part)
      truncateSync(part, bytes)
      const whole = ends.filter((end) => end <= bytes).length
      const torn = new ExtentLogFile(part)
      expect(torn.highestSn.get(1) ?? 0).toBe(whole)
      expect(torn.tornBytes).toBe(bytes - (ends[whole - 1] ?? 0))
      torn.append(1, [{ start: 0, end: 5, sn: 100 }])
      torn.close()
      const again = new ExtentLogFile(part)
      expect(again.highestSn.get(1)).toBe(100)
      expect(again.tornBytes).toBe(0)
      again.close()
    }
  })

  it('is rewritten when it is long, with the same result', () => {
    const file = join(tempFolder(), 'log')
    const log = new ExtentLogFile(file, 4000)
    log.append(9, [{ start: 0, end: 1, sn: 77 }])
    log.truncate(9)
    for (let i = 1; i <= 1000; i++) {
      log.append(i % 3, [{ start: (i % 7) * 100, end: (i % 7) * 100 + 150, sn: i }])
      log.flush()
    }
    expect(statSync(file).size).toBe(log.bytes)
    expect(log.bytes).toBeLessThan(8000)
    const before = content(log)
    log.close()
    const again = new ExtentLogFile(file, 4000)
    expect(content(again)).toEqual(before)
    expect(again.highestSn.get(9)).toBe(77)
    again.close()
  })

  it('with a changed byte ends before that record', () => {
    const file = join(tempFolder(), 'log')
    const log = new ExtentLogFile(file)
    log.append(1, [{ start: 0, end: 10, sn: 1 }])
    log.flush()
    const first = log.bytes
    log.append(1, [{ start: 10, end: 20, sn: 2 }])
    log.close()
    const bytes = readFileSync(file)
    bytes[first + 20] = (bytes[first + 20] as number) ^ 1
    writeFileSync(file, bytes)
    const again = new ExtentLogFile(file)
    expect(again.highestSn.get(1)).toBe(1)
    again.close()
  })
})
