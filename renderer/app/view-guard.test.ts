import { flushPromises, mount, type VueWrapper } from '@vue/test-utils'
import { describe, expect, it, vi } from 'vitest'
import { defineComponent, h, ref } from 'vue'
import { useSourceStore } from '../stores/source.ts'
import { freshPage } from '#tests/kits/renderer/view-page.ts'
import { breaksView } from './fault-report.ts'
import ViewGuard from './ViewGuard.vue'

let wrapper: VueWrapper
freshPage(1100, () => wrapper.unmount())

describe('a view that fails', () => {
  it('leaves the frame alive, can be reported, and is rebuilt on demand', async () => {
    vi.spyOn(console, 'error').mockReturnValue(undefined)
    const isBroken = ref(true)
    const View = defineComponent(() => () => {
      if (isBroken.value) throw new TypeError('no <img src=x> here')
      return h('p', { 'data-testid': 'fine' }, 'fine')
    })
    wrapper = mount(ViewGuard, { attachTo: document.body, props: { view: 'jobs' }, slots: { default: () => h(View) } })
    await flushPromises()
    expect(wrapper.find('[data-testid="view-fault"]').text()).toContain('Unaffected: the other views')
    expect(wrapper.find('[data-testid="fault-report"]').text()).toContain('view jobs: TypeError: no <img src=x> here')
    expect(document.querySelector('img')).toBeNull()
    isBroken.value = false
    await wrapper.find('[data-testid="fault-again"]').trigger('click')
    await flushPromises()
    expect(wrapper.find('[data-testid="fine"]').exists()).toBe(true)
  })

  it('only shows a notice if an event handler failed: the view stays', async () => {
    vi.spyOn(console, 'error').mockReturnValue(undefined)
    const View = defineComponent(() => () => h('button', { onClick: () => [].at(0)!['x'] }, 'press'))
    wrapper = mount(ViewGuard, { attachTo: document.body, props: { view: 'jobs' }, slots: { default: () => h(View) } })
    await wrapper.find('button').trigger('click')
    expect(wrapper.find('button').exists()).toBe(true)
    expect(useSourceStore().notices[0]?.code).toBe('WINDOW_FAULT')
    expect([breaksView('https://vuejs.org/error-reference/#runtime-1'), breaksView('native event handler')]).toEqual([
      true,
      false,
    ])
  })
})
