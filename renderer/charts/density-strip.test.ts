import { mount, type VueWrapper } from '@vue/test-utils'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { nextTick } from 'vue'
import type { Mark, StripFrame } from '#core/api/frames.ts'
import DensityStrip from './DensityStrip.vue'
import { joinedRuns, looksTheSame, stripMs, stripX } from './strip-axis.ts'

const WIDTH = 1008
const at = (s: number): number => s * 1000
const mark = (atMs: number, kind: Mark['kind'], text = `${kind} at ${atMs}`): Mark => ({
  atMs,
  kind,
  text,
  level: 'ok',
  subject: 'Rule',
  where: 'oss01',
})
const marks = [
  mark(at(100), 'start'),
  mark(at(101), 'controller'),
  mark(at(102), 'alarm', 'queue <img src=x>'),
  mark(at(500), 'note'),
  mark(at(900), 'lost'),
]
const strip = {
  seq: 1,
  sample: 9,
  atMs: at(1000),
  fromMs: 0,
  toMs: at(1000),
  t: [0, at(500), at(1000)],
  rpcs: [1, null, 2],
  marks,
} as StripFrame

let wrapper: VueWrapper
beforeEach(() => {
  vi.stubGlobal(
    'ResizeObserver',
    class {
      readonly #tell: ResizeObserverCallback
      constructor(tell: ResizeObserverCallback) {
        this.#tell = tell
      }
      observe(): void {
        const size = [{ inlineSize: WIDTH, blockSize: 55 }]
        this.#tell([{ contentBoxSize: size, contentRect: { width: WIDTH } } as unknown as ResizeObserverEntry], this)
      }
      unobserve(): void {}
      disconnect(): void {}
    },
  )
  vi.spyOn(Element.prototype, 'getBoundingClientRect').mockReturnValue({ left: 200, top: 40 } as DOMRect)
})
afterEach(() => {
  wrapper.unmount()
  document.body.replaceChildren()
  vi.unstubAllGlobals()
  vi.restoreAllMocks()
})
async function show() {
  wrapper = mount(DensityStrip, {
    props: { strip, windowMs: at(60), cursorMs: null },
    slots: { default: '<i class="crumbs" />' },
    attachTo: document.body,
  })
  await nextTick()
  await nextTick()
  const box = wrapper.find('[data-testid="strip"]').element
  const point = async (type: string, x: number, y = 10): Promise<void> => {
    box.dispatchEvent(new PointerEvent(type, { clientX: 200 + x, clientY: 40 + y, button: 0, bubbles: true }))
    await nextTick()
  }
  return { point, buttons: () => wrapper.findAll('[data-testid="strip-mark"]') }
}

describe('the strip', () => {
  it('seeks by a click, and zooms to a range by a drag in either direction', async () => {
    const { point } = await show()
    await point('pointerdown', 300)
    await point('pointerup', 302)
    expect(wrapper.emitted('go')).toEqual([[at(302)]])
    await point('pointerdown', 600)
    await point('pointermove', 400)
    await point('pointerup', 250)
    expect(wrapper.emitted('zoom')).toEqual([[at(250), at(600)]])
    await point('pointerdown', 900)
    await point('pointermove', 5000) // out of the strip: as far as it goes
    await point('pointerup', 5000)
    expect(wrapper.emitted('zoom')?.at(-1)).toEqual([at(900), at(1000)])
    expect(wrapper.emitted('go')).toHaveLength(1)
    await wrapper.find('[data-testid="strip"]').trigger('dblclick')
    expect(wrapper.emitted('reset')).toHaveLength(1)
  })

  it('drops a press canceled by the browser', async () => {
    const { point } = await show()
    await point('pointerdown', 300)
    await point('pointercancel', 300)
    await point('pointerup', 600)
    expect([wrapper.emitted('go'), wrapper.emitted('zoom')]).toEqual([undefined, undefined])
  })

  it('merges overlapping marks into the most important one, with their count', async () => {
    const { buttons } = await show()
    expect(buttons().map((b) => b.attributes('data-kind'))).toEqual(['alarm', 'note', 'lost'])
    expect(buttons()[0]?.attributes('aria-label')).toBe('3 events, 00:01:42 Rule: queue <img src=x>')
  })

  it('is reached by Tab once, walked by arrow keys, and goes to an event by Enter', async () => {
    const { buttons } = await show()
    expect(buttons().map((b) => b.attributes('tabindex'))).toEqual(['-1', '-1', '0'])
    const heard = vi.fn<(event: KeyboardEvent) => void>()
    addEventListener('keydown', heard)
    ;(buttons()[2]?.element as HTMLElement).focus()
    await buttons()[2]?.trigger('keydown', { key: 'ArrowLeft' })
    expect(document.activeElement).toBe(buttons()[1]?.element)
    await buttons()[1]?.trigger('keydown', { key: 'Home' })
    expect(document.body.textContent).toContain('queue <img src=x>')
    expect(document.querySelector('img')).toBeNull()
    await buttons()[0]?.trigger('keydown', { key: 'Enter' })
    expect(wrapper.emitted('go')).toEqual([[at(102)]])
    expect(heard.mock.calls.every(([event]) => event.key !== 'Enter')).toBe(true)
    removeEventListener('keydown', heard)
  })

  it('shows actor and reason under the pointer, newest first', async () => {
    const { point } = await show()
    await point('pointermove', 101)
    const tip = document.querySelector('[role="tooltip"]')?.textContent ?? ''
    expect(tip.indexOf('queue')).toBeLessThan(tip.indexOf('start at'))
    expect(tip).toContain('oss01')
    await point('pointerleave', 101)
    expect(document.querySelector('[role="tooltip"]')).toBeNull()
  })

  it('goes to the event where the lane is clicked, not beside it', async () => {
    const { point } = await show()
    await point('pointerdown', 498, 38)
    await point('pointerup', 498, 38)
    await point('pointerdown', 498, 10)
    await point('pointerup', 498, 10)
    expect(wrapper.emitted('go')).toEqual([[at(500)], [at(498)]])
  })
})

describe('instants and places of the strip', () => {
  it('are each other\u2019s inverse', () => {
    const span = { width: 700, fromMs: 5000, toMs: 65_000 }
    for (const ms of [5000, 5001, 33_333, 65_000]) expect(stripMs(span, stripX(span, ms))).toBeCloseTo(ms, 6)
  })
  it('are not joined over a missing value, nor over a gap in time', () => {
    expect(joinedRuns([0, 1, 2, 3, 4], [1, 1, null, 1, 1])).toEqual([
      [0, 1],
      [3, 4],
    ])
    expect(joinedRuns([0, 1, 2, 90, 91, 92], [1, 1, 1, 1, 1, 1])).toEqual([
      [0, 2],
      [3, 5],
    ])
    expect(joinedRuns([], [])).toEqual([])
  })
})

describe('the load is drawn again', () => {
  const flow = { width: 720, fromMs: 0, toMs: at(3600), t: [0, at(12), at(24)], rpcs: [1, null, 3], groups: [] }

  it.each([
    ['not for the next sample of an hour', { fromMs: at(1), toMs: at(3601), rpcs: [1, null, 4] }, true],
    ['when it has moved by half a pixel', { fromMs: at(2.5), toMs: at(3602.5) }, false],
    ['when an older value changes', { rpcs: [1, 2, 3] }, false],
    ['when a value is added', { t: [0, at(12), at(24), at(36)], rpcs: [1, null, 3, 4] }, false],
    ['when it starts at another instant', { t: [at(1), at(12), at(24)] }, false],
    ['in another width', { width: 700 }, false],
  ])('%s', (_, changes, expected) => {
    expect(looksTheSame(flow, { ...flow, ...changes })).toBe(expected)
  })
})
