import { mount } from '@vue/test-utils'
import { createPinia, setActivePinia } from 'pinia'
import { beforeEach, expect, it } from 'vitest'
import type { Mark } from '#core/api/frames.ts'
import EventFeed from './EventFeed.vue'

beforeEach(() => setActivePinia(createPinia()))

const mark = (atMs: number, kind: Mark['kind']): Mark => ({
  atMs,
  kind,
  level: 'watch',
  subject: kind,
  text: `${kind} at ${atMs}`,
  where: '',
})

it('filters events by kind: alerts can be hidden, and shown alone', async () => {
  const events = [mark(5, 'alarm'), mark(4, 'note'), mark(3, 'lost'), mark(2, 'mode'), mark(1, 'change')]
  const wrapper = mount(EventFeed, { props: { events } })
  const rows = (): string[] => wrapper.findAll('[data-row]').map((row) => row.text())
  const listed = (): number[] => rows().map((text) => Number(/at (\d+)/.exec(text)?.[1]))
  expect(listed()).toEqual([5, 4, 3, 2, 1])
  await wrapper.find('[data-testid=events-operator]').trigger('click')
  expect(listed()).toEqual([4, 2, 1])
  await wrapper.find('[data-testid=events-alerts]').trigger('click')
  expect(listed()).toEqual([5, 3])
})
