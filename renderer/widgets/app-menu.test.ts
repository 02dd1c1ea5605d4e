import { flushPromises, mount, type VueWrapper } from '@vue/test-utils'
import { afterEach, describe, expect, it } from 'vitest'
import { h } from 'vue'
import AppMenu from './AppMenu.vue'
import AppPopover from './AppPopover.vue'
import { menuSections, type MenuEntry } from './menu.ts'

let wrapper: VueWrapper | undefined
const done: string[] = []
afterEach(() => {
  wrapper?.unmount()
  document.body.replaceChildren()
  done.length = 0
})

const items: readonly MenuEntry[] = [
  { title: 'Edit', testid: 'edit', select: () => done.push('edit') },
  {
    title: 'Disconnect',
    testid: 'disconnect',
    off: 'The host does not respond',
    select: () => done.push('disconnect'),
  },
  { heading: 'Mode' },
  { text: 'Read-only', testid: 'words' },
  { title: 'Observe', testid: 'observe', isChosen: true, select: () => done.push('observe') },
  { title: 'Enforce', testid: 'enforce', note: 'writes', isChosen: false, select: () => done.push('enforce') },
  { separator: true },
  { title: 'Root may write', testid: 'root', isOn: false, select: () => done.push('root') },
  { title: 'Remove', testid: 'remove', isDanger: true, select: () => done.push('remove') },
]
const settle = async (): Promise<void> => {
  await flushPromises()
  await new Promise((resolve) => setTimeout(resolve))
}
const find = (id: string) => document.querySelector<HTMLElement>(`[data-testid=${id}]`)
async function open(props: Record<string, unknown> = {}): Promise<HTMLElement> {
  wrapper = mount(() => h(AppMenu, { items, label: 'altair', ...props }, () => h('button', { id: 'opener' }, 'More')), {
    attachTo: document.body,
  })
  await settle()
  const opener = document.getElementById('opener')
  if (!opener) throw new Error('no trigger')
  return opener
}
async function pressKey(key: string): Promise<void> {
  const event = new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true })
  ;(document.activeElement ?? document.body).dispatchEvent(event)
  await settle()
}
async function click(element: HTMLElement | null): Promise<void> {
  element?.dispatchEvent(new PointerEvent('pointerdown', { bubbles: true, button: 0 }))
  element?.click()
  await settle()
}

describe('the entries of a menu', () => {
  it('are divided at headings and separators', () => {
    expect(menuSections(items).map(({ title, isRuled, entries }) => [title, isRuled, entries.length])).toEqual([
      ['', false, 2],
      ['Mode', false, 3],
      ['', true, 2],
    ])
    expect(menuSections([])).toEqual([])
  })
})

describe('a menu', () => {
  it('lists its items with role and state, in titled groups', async () => {
    await click(await open())
    const menu = document.querySelector('[role=menu]')
    expect(menu?.getAttribute('aria-label')).toBe('altair')
    const rows = [...document.querySelectorAll('[role^=menuitem]')]
    expect(rows.map((r) => [r.getAttribute('role'), r.getAttribute('aria-checked')])).toEqual([
      ['menuitem', null],
      ['menuitem', null],
      ['menuitemradio', 'true'],
      ['menuitemradio', 'false'],
      ['menuitemcheckbox', 'false'],
      ['menuitem', null],
    ])
    const group = find('observe')?.closest('[role=group]')
    expect(document.getElementById(group?.getAttribute('aria-labelledby') ?? '')?.textContent).toBe('Mode')
    expect(document.querySelectorAll('[role=separator]')).toHaveLength(1)
    expect(find('enforce')?.textContent).toBe('Enforcewrites')
    expect(find('words')?.textContent).toBe('Read-only')
  })

  it('runs the chosen item and closes; a disabled one shows its reason', async () => {
    const opener = await open()
    await click(opener)
    expect(find('disconnect')?.title).toBe('The host does not respond')
    expect(find('disconnect')?.hasAttribute('data-disabled')).toBe(true)
    await click(find('disconnect'))
    expect(done).toEqual([])
    await click(find('enforce'))
    expect(done).toEqual(['enforce'])
    expect(document.querySelector('[role=menu]')).toBeNull()
  })

  it('returns the focus to its trigger, but not after a mouse press if the focus is left to the view', async () => {
    for (const [props, byKey, isBack] of [
      [{}, false, true],
      [{ leavesFocus: true }, false, false],
      [{ leavesFocus: true }, true, true],
    ] as const) {
      const opener = await open(props)
      opener.focus()
      if (byKey) await pressKey('Enter')
      else await click(opener)
      expect(find('edit')).not.toBeNull()
      await pressKey('Escape')
      expect(find('edit')).toBeNull()
      expect(document.activeElement === opener).toBe(isBack)
      wrapper?.unmount()
    }
    await open()
  })

  it('opens on a right click as a context menu', async () => {
    const region = await open({ isContext: true })
    await click(region)
    expect(find('edit')).toBeNull()
    region.dispatchEvent(new MouseEvent('contextmenu', { bubbles: true, cancelable: true, clientX: 10, clientY: 20 }))
    await settle()
    await click(find('remove'))
    expect(done).toEqual(['remove'])
  })
})

describe('a popover', () => {
  it('opens with its trigger, focuses the marked element, and closes by Escape and its own button', async () => {
    wrapper = mount(
      () =>
        h(
          AppPopover,
          { label: 'Parameters', testid: 'pop' },
          {
            trigger: () => h('button', { id: 'opener' }),
            default: ({ close }: { close: () => void }) => [
              h('button', { id: 'close', onClick: close }),
              h('input', { id: 'seeds', 'data-focus-first': '' }),
            ],
          },
        ),
      { attachTo: document.body },
    )
    const opener = document.getElementById('opener')
    opener?.focus()
    await click(opener)
    expect(find('pop')?.getAttribute('role')).toBe('dialog')
    expect(document.activeElement?.id).toBe('seeds')
    await pressKey('Escape')
    expect(find('pop')).toBeNull()
    expect(document.activeElement).toBe(opener)
    await click(opener)
    await click(document.getElementById('close'))
    expect(find('pop')).toBeNull()
  })
})
