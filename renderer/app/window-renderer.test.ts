/** Text updates keep their text node; everything else is as in Vue's renderer. */
import { expect, it } from 'vitest'
import { defineComponent, h, nextTick, ref } from 'vue'
import { windowApp } from './window-renderer.ts'

function mounted(children: () => unknown) {
  const page = document.createElement('div')
  const app = windowApp(defineComponent({ setup: () => () => h('p', { class: 'a' }, children() as string) }))
  app.mount(page)
  return { p: page.querySelector('p') as HTMLElement, app, page }
}

it('updates text in place', async () => {
  const text = ref('1.0')
  const { p } = mounted(() => text.value)
  const node = p.firstChild
  text.value = '2.0'
  await nextTick()
  expect(p.textContent).toBe('2.0')
  expect(p.firstChild).toBe(node)
})

it('renders markup in text as text', async () => {
  const text = ref('a')
  const { p } = mounted(() => text.value)
  text.value = '<img src=x onerror=alert(1)>'
  await nextTick()
  expect(p.childElementCount).toBe(0)
  expect(p.textContent).toBe('<img src=x onerror=alert(1)>')
})

it('leaves no nodes behind when switching between text, nothing and elements', async () => {
  const children = ref<unknown>('one')
  const { p, app, page } = mounted(() => children.value)
  const nodes = async (next: unknown): Promise<string[]> => {
    children.value = next
    await nextTick()
    return [...p.childNodes].map((n) => `${n.nodeName} ${n.textContent}`)
  }
  expect(await nodes('')).toEqual([])
  expect(await nodes('two')).toEqual(['#text two'])
  expect(await nodes([h('b', 'three'), h('i', 'four')])).toEqual(['B three', 'I four'])
  expect(await nodes('five')).toEqual(['#text five'])
  expect(await nodes([h('b', 'six')])).toEqual(['B six'])
  expect(await nodes(null)).toEqual([])
  app.unmount()
  expect(page.childElementCount).toBe(0)
})
