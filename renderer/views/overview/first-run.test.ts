import { mount, type VueWrapper } from '@vue/test-utils'
import { expect, it } from 'vitest'
import { createMemoryHistory, createRouter } from 'vue-router'
import type { OverviewFrame, StatusFrame } from '#core/api/frames.ts'
import { useFirstRunStore } from '../../stores/first-run.ts'
import { useSourceStore } from '../../stores/source.ts'
import { useTourStore } from '../../stores/tour.ts'
import { freshPage, showSource } from '#tests/kits/renderer/view-page.ts'
import FirstRun from './FirstRun.vue'

let wrapper: VueWrapper
freshPage(1200, () => wrapper.unmount())
const movers = { jobId: [], colour: [], rpcs: [], nodes: [] } as unknown as OverviewFrame['movers']

async function open(kind: 'EMULATED' | 'LIVE'): Promise<void> {
  localStorage.clear()
  showSource(1_767_225_600_000, kind)
  const source = useSourceStore()
  source.apply({ ...source.frame, controller: 'none', counts: { jobs: 4 } } as unknown as StatusFrame)
  const routes = ['overview', 'jobs', 'connections', 'sandbox'].map((name) => ({
    path: `/${name}`,
    name,
    component: { template: '<p />' },
  }))
  const router = createRouter({ history: createMemoryHistory(), routes })
  await router.push('/overview')
  wrapper = mount(FirstRun, { props: { movers }, global: { plugins: [router] }, attachTo: document.body })
}
const button = () => wrapper.find<HTMLButtonElement>('[data-testid="first-tour"]')

it('starts the tour by its button, once, and closes the banner', async () => {
  await open('EMULATED')
  const tour = useTourStore()
  const first = useFirstRunStore()
  expect([tour.isOpen, tour.calls, first.isFirst]).toEqual([false, 0, true])
  expect(button().text()).toBe('Start the tour')
  await button().trigger('click')
  expect([tour.isOpen, tour.calls, tour.step?.id, first.isFirst]).toEqual([true, 1, 'controller', false])
})

it('continues a tour that was left at a step', async () => {
  await open('EMULATED')
  const tour = useTourStore()
  tour.start()
  tour.next()
  tour.leave()
  await wrapper.vm.$nextTick()
  expect(button().text()).toBe('Continue at step 2')
  await button().trigger('click')
  expect([tour.isOpen, tour.at]).toEqual([true, 1])
})

it('starts no tour on a cluster that is not emulated, and gives the reason', async () => {
  await open('LIVE')
  expect(button().element.disabled).toBe(true)
  expect(button().attributes('title')).toContain('runs on the emulator only')
  await button().trigger('click')
  expect([useTourStore().isOpen, useFirstRunStore().isFirst]).toEqual([false, true])
})
