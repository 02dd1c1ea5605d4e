import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { mayChange } from './implementation.ts'
import { FramePump } from './frame-pump.ts'

interface Built {
  readonly seq: number
  readonly at: number | null
}
const listeners = new Set<() => void>()
const source = {
  onChange: (listener: () => void) => {
    listeners.add(listener)
    return () => void listeners.delete(listener)
  },
}
const change = (): void => listeners.forEach((l) => l())
let pump: FramePump
let ended: AbortController
beforeEach(() => {
  pump = new FramePump()
  ended = new AbortController()
})
afterEach(() => ended.abort())

function open(at: number | null, isFixed = true): AsyncGenerator<Built, void, void> {
  const query = { peer: 'p', stream: 's', hz: 10, at, isFixed, beats: false }
  return pump.frames(source, query, ended.signal, (seq, where) => ({ seq, at: where }))
}
const next = async (frames: AsyncGenerator<Built, void, void>): Promise<Built> => {
  const { value } = await frames.next()
  if (!value) throw new Error('ended')
  pump.acknowledge('p', 's', value.seq)
  return value
}
/** True if the promise stays pending while all other tasks run. */
const isSilent = async (waiting: Promise<unknown>): Promise<boolean> => {
  let came = false
  void waiting.then(() => (came = true))
  for (let i = 0; i < 5; i++) await new Promise((resolve) => setImmediate(resolve))
  return !came
}

describe('a stream that stands', () => {
  it('is followed by the frames beside it once it is drawn, and by the next one of the way after a step', async () => {
    const query = { peer: 'p', stream: 's', hz: 10, at: 7, isFixed: true, beats: false, ahead: true }
    const frames = pump.frames(source, query, ended.signal, (seq, at, isAhead) => ({ seq, at, isAhead }))
    const first = await frames.next()
    const second = frames.next()
    expect(await isSilent(second)).toBe(true)
    pump.acknowledge('p', 's', first.value?.seq ?? 0)
    expect((await second).value).toEqual({ seq: 2, at: 6, isAhead: true })
    pump.acknowledge('p', 's', 2)
    expect(await next(frames)).toEqual({ seq: 3, at: 8, isAhead: true })
    pump.seek('p', 's', 6)
    expect(await next(frames)).toEqual({ seq: 4, at: 6, isAhead: false })
    expect(await next(frames)).toEqual({ seq: 5, at: 5, isAhead: true })
    expect(await isSilent(frames.next())).toBe(true)
  })

  it('is one frame until its cursor moves, whatever the source does', async () => {
    const frames = open(7)
    expect(await next(frames)).toEqual({ seq: 1, at: 7 })
    const waiting = next(frames)
    change()
    expect(await isSilent(waiting)).toBe(true)
    expect(pump.seek('p', 's', 6)).toBe(true)
    expect(await waiting).toEqual({ seq: 2, at: 6 })
  })

  it('sends the newest of many moves only, to a window that has not drawn the last two', async () => {
    const frames = open(7)
    const first = await frames.next()
    pump.seek('p', 's', 6)
    await frames.next()
    const third = frames.next()
    for (const at of [5, 4, 3]) pump.seek('p', 's', at)
    expect(await isSilent(third)).toBe(true)
    pump.acknowledge('p', 's', first.value?.seq ?? 0)
    expect((await third).value).toEqual({ seq: 3, at: 3 })
  })

  it('follows again when its cursor is let go', async () => {
    const frames = open(7)
    await next(frames)
    pump.seek('p', 's', null)
    expect((await next(frames)).at).toBeNull()
    const waiting = next(frames)
    change()
    expect(await waiting).toEqual({ seq: 3, at: null })
  })

  it('is not moved by another window, nor before it runs, nor after it', async () => {
    expect(pump.seek('p', 's', 1)).toBe(false)
    const frames = open(7)
    await next(frames)
    expect(pump.seek('q', 's', 1)).toBe(false)
    await frames.return(undefined)
    expect(pump.seek('p', 's', 1)).toBe(false)
  })
})

it('follows the source where it does not stand', async () => {
  const frames = open(7, false)
  await next(frames)
  const waiting = next(frames)
  change()
  expect((await waiting).seq).toBe(2)
})

describe('while something recorded is on screen', () => {
  it('nothing is changed, but read, noted and stopped', () => {
    expect(() => mayChange(['rules', 'commit'], true)).toThrow('Nothing was changed')
    expect(() => mayChange(['source', 'setMode'], true)).toThrow()
    for (const path of [
      ['views', 'jobs'],
      ['history', 'leave'],
      ['history', 'note'],
      ['source', 'stopAll'],
    ])
      expect(() => mayChange(path, true)).not.toThrow()
    expect(() => mayChange(['rules', 'commit'], false)).not.toThrow()
  })
})
