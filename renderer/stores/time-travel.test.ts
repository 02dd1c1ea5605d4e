import { createPinia, setActivePinia } from 'pinia'
import { beforeEach, describe, expect, it } from 'vitest'
import { nextTick } from 'vue'
import { apply, openTimeHost, playback, refuse, status, type TimeHost } from '#tests/kits/renderer/time-host.ts'
import { useCompareStore } from './compare.ts'
import { useSourceStore } from './source.ts'
import { useTimeStore } from './time.ts'

let host: TimeHost
const goToTimes = (): unknown[] =>
  host.calls.filter((c) => c.verb === 'goTo').map((c) => (c.input as { atMs: number }).atMs)
const settle = async (): Promise<void> => {
  for (let i = 0; i < 6; i++) await Promise.resolve()
}
beforeEach(() => {
  setActivePinia(createPinia())
  host = openTimeHost()
  apply(status())
})
/** Steps from memory into stored history. */
async function intoThePast() {
  const time = useTimeStore()
  time.goTo(50)
  time.note({ sample: 50, atMs: 50_000 })
  time.step(-1)
  await host.answer({ sample: 9, atMs: 49_000, recorded: true, turn: 1 })
  return time
}

describe('beyond the memory', () => {
  it('continues in stored history, and shows none of it before it is named', async () => {
    const time = await intoThePast()
    expect(goToTimes()).toEqual([49_000])
    expect([time.isElsewhere, time.at]).toEqual([true, 50]) // the status that names it is on its way
    apply(playback())
    expect([time.isElsewhere, time.at, time.atMs, time.isRecorded, time.isPaused]).toEqual([
      false,
      9,
      49_000,
      true,
      true,
    ])
    expect(useSourceStore().naming).toMatchObject({ kind: 'RECORDED', playback: { file: null, tier: '10s' } })
  })

  it('steps there without requests, except at the ends', async () => {
    const time = await intoThePast()
    apply(playback())
    time.step(-3)
    expect([time.at, time.atMs]).toEqual([6, 34_000])
    time.step(-20)
    expect(goToTimes().at(-1)).toBe(-66_000)
    await host.answer(refuse('NOTHING_KEPT', 'Nothing is kept of then'))
    expect([time.at, time.isGoing]).toEqual([6, false]) // it stays where it was, and says why
    expect(useSourceStore().notices[0]).toMatchObject({ what: 'Nothing is kept of then' })
  })

  it('stays at the last reached position if a later request is refused', async () => {
    const time = useTimeStore()
    time.goToTime(10_000)
    time.goToTime(-9e9)
    await host.answer({ sample: 9, atMs: 10_000, recorded: true, turn: 1 })
    expect(goToTimes()).toEqual([10_000, -9e9])
    await host.answer(refuse('NOTHING_KEPT', 'Nothing is kept of then'))
    apply(playback())
    expect([time.at, time.atMs, time.isElsewhere, time.isGoing]).toEqual([9, 10_000, false, false])
    expect(useSourceStore().notices[0]).toMatchObject({ what: 'Nothing is kept of then' })
  })

  it('returns towards live beyond the newest stored sample', async () => {
    const time = await intoThePast()
    apply(playback())
    time.step(1)
    expect(goToTimes().at(-1)).toBe(54_000)
    await host.answer({ sample: 54, atMs: 54_000, recorded: false, turn: 2 })
    apply(status({ turn: 2 }))
    expect([time.at, time.atMs, time.isRecorded, time.isPaused]).toEqual([54, 54_000, false, true])
  })

  it('requests one instant at a time; of further ones only the newest', async () => {
    const time = useTimeStore()
    time.goTo(50)
    time.note({ sample: 50, atMs: 50_000 })
    for (let i = 0; i < 30; i++) time.step(-1) // a key that is held
    expect(goToTimes()).toEqual([49_000])
    await host.answer({ sample: 9, atMs: 49_000, recorded: true, turn: 1 })
    expect(goToTimes()).toEqual([49_000, 20_000])
    await host.answer({ sample: 4, atMs: 20_000, recorded: true, turn: 1 })
    expect(goToTimes()).toHaveLength(2)
    apply(playback())
    expect([time.at, time.atMs]).toEqual([4, 20_000])
  })

  it('requests within a recording, too, up to its end', async () => {
    apply(playback({ playback: { file: 'mdt-storm.qosrec', tier: 'raw', fromMs: 9_000, toMs: 49_000 } }))
    const time = useTimeStore()
    expect([time.at, time.sample, time.isPaused]).toEqual([null, 9, true])
    time.step(1)
    expect(goToTimes()).toEqual([54_000])
    await host.answer({ sample: 9, atMs: 49_000, recorded: true, turn: 1 })
    expect([time.at, time.message]).toEqual([9, 'no later data'])
    time.step(-1)
    expect([time.at, time.message]).toEqual([8, ''])
  })

  it('computes the sample if the host cannot; far from any data it stays, with a notice', async () => {
    const time = useTimeStore()
    time.goToTime(60_400)
    await host.answer(refuse('NOT_YET', 'This is not there yet'))
    expect([time.at, useSourceStore().notices]).toEqual([60, []])
    time.goToTime(10_000)
    await host.answer(refuse('NOTHING_KEPT', 'Nothing is kept of then'))
    expect([time.at, time.message, useSourceStore().notices.length]).toEqual([50, 'no earlier data', 0])
    time.goTo(70)
    time.goToTime(-60_000)
    await host.answer(refuse('NOTHING_KEPT', 'Nothing is kept of then'))
    expect([time.at, useSourceStore().notices.length]).toEqual([70, 1])
  })
})

describe('live again', () => {
  it('ends a playback by the same key', async () => {
    const time = await intoThePast()
    apply(playback())
    const looks = useSourceStore().looks
    time.live()
    expect(host.calls.at(-1)?.verb).toBe('leave')
    await settle()
    expect(useSourceStore().looks).toBe(looks + 1)
    apply(status({ turn: 2, sample: 120, atMs: 120_000 }))
    expect([time.at, time.isPaused, time.sample]).toEqual([null, false, 120])
  })

  it('reports a refusal', async () => {
    await intoThePast()
    apply(playback())
    host.refuses = new Error('socket closed')
    useTimeStore().live()
    await settle()
    expect(useSourceStore().notices[0]).toMatchObject({ what: 'The recording is still open' })
  })

  it('counts held samples while paused, but not in a recording', async () => {
    const time = useTimeStore()
    time.pause()
    apply(status({ sample: 137, atMs: 137_000 }))
    expect(time.held).toBe(37)
    apply(playback())
    expect(time.held).toBe(0)
  })
})

describe('a playback of the same cluster', () => {
  it('is named once the view shows it, and the view keeps what it has until then', () => {
    const source = useSourceStore()
    source.viewers = 1
    apply(playback())
    expect([source.isTurning, source.naming?.kind, source.isHatched, source.switches]).toEqual([true, 'LIVE', false, 0])
    source.turned()
    expect([source.isTurning, source.naming?.kind, source.isHatched]).toEqual([false, 'RECORDED', true])
  })

  it('is another source if the cluster differs', () => {
    const source = useSourceStore()
    source.viewers = 1
    apply(playback({ source: { kind: 'RECORDED', cluster: 'borealis', env: 'PROD', sinceMs: 0 } }))
    expect([source.switches, source.isTurning]).toEqual([1, false])
    apply(status({ turn: 2 }))
    expect(source.switches).toBe(2)
  })

  it('disables changes, with the reason', async () => {
    apply(playback())
    const source = useSourceStore()
    await source.setMode('enforce')
    await source.setSpeed(4)
    expect(host.calls).toEqual([])
    expect(source.off).toContain('Go back to live')
    expect(source.notices.map((n) => n.code)).toEqual(['RECORDED', 'RECORDED'])
  })
})

describe('events', () => {
  it('are visited one after the other, even between samples', async () => {
    const time = useTimeStore()
    time.goTo(80)
    time.note({ sample: 80, atMs: 80_000 })
    host.event = 70_400
    const went = time.event('previous')
    await settle()
    expect(host.calls[0]).toEqual({ verb: 'event', input: { atMs: 80_000, direction: 'previous' } })
    await host.answer({ sample: 70, atMs: 70_000, recorded: false, turn: 0 })
    await went
    expect(time.at).toBe(70)
    host.event = 76_000
    void time.event('next')
    await settle()
    expect(host.calls.at(-2)?.input).toEqual({ atMs: 70_400, direction: 'next' })
  })

  it('end with a message', async () => {
    const time = useTimeStore()
    await time.event('previous')
    expect([time.message, time.at]).toEqual(['no earlier event', null])
    apply(status({ sample: 101, atMs: 101_000 }))
    await nextTick()
    expect(time.message).toBe('no earlier event')
    time.step(-1)
    expect(time.message).toBe('')
  })
})

describe('a zoomed window', () => {
  it('keeps a stack of windows, popped one at a time', async () => {
    const time = useTimeStore()
    time.zoom(60_000, 90_000)
    await host.answer({ sample: 90, atMs: 90_000, recorded: false, turn: 0 })
    expect([time.windowMs, time.at, time.crumbs]).toEqual([30_000, 90, [{ windowMs: 300_000, atMs: null }]])
    time.zoom(80_000, 70_000)
    await host.answer({ sample: 80, atMs: 80_000, recorded: false, turn: 0 })
    expect([time.windowMs, time.at]).toEqual([10_000, 80])
    time.stepOut()
    await host.answer({ sample: 90, atMs: 90_000, recorded: false, turn: 0 })
    expect([time.windowMs, time.at, time.crumbs.length]).toEqual([30_000, 90, 1])
    time.resetZoom()
    expect([time.windowMs, time.at, time.crumbs.length]).toEqual([300_000, null, 0])
    time.resetZoom()
    expect(time.windowMs).toBe(300_000)
  })

  it('is between ten seconds and a day, and a named width resets the stack', async () => {
    const time = useTimeStore()
    time.zoom(90_000, 90_400)
    expect(time.windowMs).toBe(10_000)
    time.zoom(0, 1e9)
    expect(time.windowMs).toBe(86_400_000)
    time.chooseWindow(900_000)
    expect([time.windowMs, time.crumbs]).toEqual([900_000, []])
  })
})

describe('comparing', () => {
  it('keeps A through a playback, until it ends or the cluster changes', async () => {
    const time = useTimeStore()
    const compare = useCompareStore()
    time.goTo(80)
    compare.pin()
    expect([compare.isOn, compare.aMs]).toEqual([true, 80_000])
    time.step(-10)
    apply(playback())
    expect(compare.aMs).toBe(80_000)
    apply(status({ turn: 2 }))
    time.goTo(90)
    compare.pin()
    expect(compare.aMs).toBe(90_000)
    compare.clear()
    expect(compare.isOn).toBe(false)
  })
})
