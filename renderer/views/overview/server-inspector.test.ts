import { mount } from '@vue/test-utils'
import { createPinia, setActivePinia } from 'pinia'
import { beforeEach, expect, it } from 'vitest'
import type { ServerFrame } from '#core/api/server-frame.ts'
import type { Client } from '../../stores/client.ts'
import { useConnectionStore } from '../../stores/connection.ts'
import { useSelectionStore } from '../../stores/selection.ts'
import ServerInspector from './ServerInspector.vue'

const EVIL = '<img src=x onerror=alert(1)>\u202e'
const frame = (more: Partial<ServerFrame> = {}): ServerFrame => ({
  seq: 1,
  sample: 9,
  atMs: 1_767_312_000_000,
  kind: 'target',
  name: 'fs-OST0000',
  node: 'oss01',
  known: true,
  targets: [{ name: 'fs-OST0000', rpcs: 316, serviceMs: 7.5 }],
  queued: 18,
  disk: {
    atMs: 1_767_312_000_000,
    seconds: 60,
    reads: 2,
    writes: 1_882,
    sizeBytes: [
      [4096, 2, 0],
      [1_048_576, 0, 1_882],
    ],
  },
  diskNote: '',
  estimates: [{ service: 'ost_io', cpt: 0, current: 5, worst: 31, worstAtMs: 1_767_300_000_000 }],
  estimatesAtMs: 1_767_312_000_000,
  estimatesNote: '',
  ...more,
})

/** Mounts the inspector of a place whose host sends one frame. */
async function shown(of: ServerFrame) {
  const server = async () =>
    (async function* () {
      yield of
      await new Promise(() => undefined)
    })()
  useConnectionStore().opened({
    api: { host: { ack: async () => undefined }, views: { server } } as unknown as Client,
  })
  const wrapper = mount(ServerInspector, { props: { place: { kind: of.kind, name: of.name } } })
  await expect.poll(() => wrapper.find('[data-testid=disk]').exists()).toBe(true)
  return wrapper
}
beforeEach(() => setActivePinia(createPinia()))

it('shows disk I/O by size for reads and writes, and the service estimate of each CPT', async () => {
  const wrapper = await shown(frame())
  expect(wrapper.get('[data-testid=disk]').text()).toMatch(/2 reads[^]*1\D882 writes/)
  expect(wrapper.get('[data-testid=disk-sizeBytes] [role=img]').attributes('aria-label')).toBe(
    'Disk I/O size: most reads 4 K with 2, most writes 1 M with 1\u202f882',
  )
  // A server that has no such section shows none.
  expect(wrapper.find('[data-testid=disk-fragments]').exists()).toBe(false)
  expect(
    wrapper
      .get('[data-testid=estimates]')
      .findAll('tbody td')
      .map((d) => d.text())
      .slice(0, 4),
  ).toEqual(['ost_io', '0', '5', '31'])
})

it('gives the reason if there is no data, and shows server output as text', async () => {
  const wrapper = await shown(
    frame({ name: EVIL, disk: null, diskNote: EVIL, estimates: [], estimatesNote: 'no two readings yet' }),
  )
  expect(wrapper.get('[data-testid=disk]').text()).toContain('<img src=x')
  expect(wrapper.find('img').exists()).toBe(false)
  expect(wrapper.text()).not.toContain('\u202e')
  expect(wrapper.get('[data-testid=estimates]').text()).toContain('no two readings yet')
})

it('shows only the selected target or server', () => {
  const selection = useSelectionStore()
  selection.select('1.hog.u1')
  expect(selection.place).toBeNull()
  selection.choose('target', 'fs-OST0000')
  expect(selection.place).toEqual({ kind: 'target', name: 'fs-OST0000' })
  selection.choose('node', 'oss01')
  expect(selection.place).toEqual({ kind: 'node', name: 'oss01' })
  selection.choose('rule', 'cap')
  expect(selection.place).toBeNull()
})
