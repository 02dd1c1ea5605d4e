/** A text that changes stays the node that it was, and everything else is as Vue makes it. */
import { expect, it } from 'vitest'
import { defineComponent, h, nextTick, ref } from 'vue'
import { windowApp } from './window-renderer.ts'

function mounted(children: () => unknown) {
  const page = document.createElement('div')
  const app = windowApp(defineComponent({ setup: () => () => h('p', { class: 'a' }, children() as string) }))
  app.mount(page)
  return { p: page.querySelector('p') as HTMLElement, app, page }
}

it('a text that changes is the same node', async () => {
  const text = ref('1.0')
  const { p } = mounted(() => text.value)
  const node = p.firstChild
  text.value = '2.0'
  await nextTick()
  expect(p.textContent).toBe('2.0')
  expect(p.firstChild).toBe(node)
})

it('a text stays text, whatever is in it', async () => {
  const text = ref('a')
  const { p } = mounted(() => text.value)
  text.value = '<img src=x onerror=alert(1)>'
  await nextTick()
  expect(p.childElementCount).toBe(0)
  expect(p.textContent).toBe('<img src=x onerror=alert(1)>')
})

it('between text, nothing and elements nothing is left behind', async () => {
  const children = ref<unknown>('one')
  const { p, app, page } = mounted(() => children.value)
  const html = async (next: unknown): Promise<string> => {
    children.value = next
    await nextTick()
    return p.innerHTML
  }
  expect(await html('')).toBe('')
  expect(p.childNodes).toHaveLength(0)
  expect(await html('two')).toBe('two')
  expect(await html([h('b', 'three'), h('i', 'four')])).toBe('<b>three</b><i>four</i>')
  expect(await html('five')).toBe('five')
  expect(await html([h('b', 'six')])).toBe('<b>six</b>')
  expect(await html(null)).toBe('')
  app.unmount()
  expect(page.innerHTML).toBe('')
})
