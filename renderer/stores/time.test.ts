import { createPinia, setActivePinia } from 'pinia'
import { beforeEach, expect, it } from 'vitest'
import { nextTick } from 'vue'
import type { StatusFrame } from '#core/api/frames.ts'
import { useSourceStore } from './source.ts'
import { useTimeStore } from './time.ts'

function newest(sample: number): void {
  const clock = { speed: 1, achieved: 1, intervalMs: 1000, sampleAgeMs: 0 }
  const source = { kind: 'LIVE', cluster: 'altair' }
  useSourceStore().apply({ source, sample, atMs: sample * 1000, clock } as StatusFrame)
}
beforeEach(() => {
  setActivePinia(createPinia())
  newest(100)
})

it('follows the newest sample until it is paused on the one on screen', () => {
  const time = useTimeStore()
  expect([time.isPaused, time.sample, time.held]).toEqual([false, 100, 0])
  time.note({ sample: 99, atMs: 99_000 }) // the view is one frame behind
  time.toggle()
  expect([time.at, time.sample, time.atMs]).toEqual([99, 99, 99_000])
  newest(136)
  expect([time.sample, time.held]).toEqual([99, 37])
  time.toggle()
  time.note({ sample: 136, atMs: 136_000 })
  expect([time.at, time.sample, time.held]).toEqual([null, 136, 0])
})

it('continues in a view that reports no samples, and stays paused', () => {
  const time = useTimeStore()
  time.note({ sample: 99, atMs: 99_000 })
  time.unnote()
  newest(130)
  expect([time.sample, time.atMs]).toEqual([130, 130_000])
  time.note({ sample: 129, atMs: 129_400 })
  time.pause()
  time.unnote()
  newest(160)
  expect([time.sample, time.atMs]).toEqual([129, 129_400])
})

it('continues when it is resumed in a view that reports no samples', () => {
  const time = useTimeStore()
  time.note({ sample: 99, atMs: 99_000 })
  time.pause()
  time.unnote()
  time.live()
  newest(130)
  expect([time.sample, time.atMs]).toEqual([130, 130_000])
  // A view that is mounted keeps its sample until its next frame.
  useSourceStore().viewers++
  time.note({ sample: 129, atMs: 129_400 })
  time.pause()
  time.live()
  expect([time.sample, time.atMs]).toEqual([129, 129_400])
})

it('steps within the available samples, and pauses by stepping', () => {
  const time = useTimeStore()
  time.step(-1)
  expect(time.at).toBe(99)
  time.step(-10)
  expect([time.at, time.atMs]).toEqual([89, 89_000]) // reckoned: the frame is not here yet
  time.step(1000)
  expect(time.at).toBe(100)
  time.step(-1000)
  expect(time.at).toBe(1)
  time.live()
  expect(time.isPaused).toBe(false)
})

it('moves to the sample nearest to an instant', () => {
  const time = useTimeStore()
  time.goToTime(50_400)
  expect(time.at).toBe(50)
  time.goToTime(1e9)
  expect(time.at).toBe(100)
})

it('never points to a sample that the host no longer has', async () => {
  const time = useTimeStore()
  const status = (sample: number, oldest: number): void => {
    const clock = { speed: 1, achieved: 1, intervalMs: 1000, sampleAgeMs: 0 }
    const source = { kind: 'LIVE', cluster: 'altair' }
    useSourceStore().apply({ source, sample, oldest, atMs: sample * 1000, clock } as StatusFrame)
  }
  status(100, 50)
  time.goTo(3)
  expect(time.at).toBe(50)
  status(130, 80) // the sample it stood on is forgotten meanwhile
  await nextTick()
  expect(time.at).toBe(80)
  status(10, 1) // the host was restarted
  await nextTick()
  expect(time.at).toBe(10)
})
