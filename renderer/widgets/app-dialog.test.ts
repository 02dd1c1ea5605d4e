import { flushPromises, mount, type VueWrapper } from '@vue/test-utils'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { defineComponent, h, nextTick, ref, type Ref } from 'vue'
import AppDialog from './AppDialog.vue'

let wrapper: VueWrapper
let open: Ref<boolean>
let busy: Ref<boolean>
let submits = 0

beforeEach(() => {
  open = ref(false)
  busy = ref(false)
  submits = 0
})
afterEach(() => {
  wrapper.unmount()
  document.body.replaceChildren()
})

type Props = Partial<InstanceType<typeof AppDialog>['$props']>
function show(props: Props = {}, slots: Record<string, unknown> = {}): void {
  const Page = defineComponent(() => () => [
    h('button', { id: 'opener' }),
    h(
      AppDialog,
      {
        open: open.value,
        'onUpdate:open': (is: boolean) => (open.value = is),
        title: 'Unlock altair',
        testid: 'it',
        isBusy: busy.value,
        onSubmit: () => submits++,
        ...props,
      },
      {
        description: () => 'For 15 minutes.',
        default: () => h('input', { id: 'field', 'data-focus-first': '' }),
        footer: ({ close }: { close: () => void }) =>
          h('button', { id: 'close', type: 'button', onClick: close }, 'Close'),
        ...slots,
      },
    ),
  ])
  wrapper = mount(Page, { attachTo: document.body })
}
const dialog = () => document.querySelector<HTMLElement>('[data-testid=it]')
/** Timers of the library return the focus one task after closing. */
const settle = async (): Promise<void> => {
  await flushPromises()
  await new Promise((resolve) => setTimeout(resolve))
  await nextTick()
}
async function begin(): Promise<void> {
  document.getElementById('opener')?.focus()
  open.value = true
  await settle()
}
async function press(key: string): Promise<void> {
  const event = new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true })
  ;(document.activeElement ?? document.body).dispatchEvent(event)
  await settle()
}
async function pressOutside(): Promise<void> {
  const scrim = document.querySelector('.scrim')
  for (const type of ['pointerdown', 'pointerup', 'click']) {
    scrim?.dispatchEvent(new PointerEvent(type, { bubbles: true, cancelable: true, button: 0 }))
  }
  await settle()
}

describe('a dialog', () => {
  it('is a modal dialog with title and description, and one overlay', async () => {
    show()
    expect(dialog()).toBeNull()
    await begin()
    const element = dialog()
    expect(element?.getAttribute('role')).toBe('dialog')
    const textOf = (name: string) => document.getElementById(element?.getAttribute(name) ?? '')?.textContent
    expect(textOf('aria-labelledby')).toBe('Unlock altair')
    expect(textOf('aria-describedby')).toBe('For 15 minutes.')
    expect(document.querySelectorAll('[data-modal]')).toHaveLength(1)
  })

  it('is described by an element of its content', async () => {
    show(
      {},
      {
        description: undefined,
        default: ({ described }: { described: string }) => h('p', { id: described }, 'Later in the body.'),
      },
    )
    await begin()
    expect(document.getElementById(dialog()?.getAttribute('aria-describedby') ?? '')?.textContent).toBe(
      'Later in the body.',
    )
  })

  it('focuses the marked element, and returns the focus when it closes', async () => {
    show({ closeLabel: 'Close' })
    await begin()
    expect(document.activeElement?.id).toBe('field')
    await press('Escape')
    expect([open.value, dialog()]).toEqual([false, null])
    expect(document.activeElement?.id).toBe('opener')
  })

  it('skips a marked element that is disabled', async () => {
    const buttons = () => [
      h('button', { 'data-focus-first': '', disabled: true }),
      h('button', { id: 'second', 'data-focus-first': '' }),
    ]
    show({}, { default: buttons })
    await begin()
    expect(document.activeElement?.id).toBe('second')
  })

  it('closes by a press outside, unless it keeps open or is an alert', async () => {
    show()
    await begin()
    await pressOutside()
    expect(open.value).toBe(false)
    wrapper.unmount()
    for (const props of [{ keepsOpen: true }, { isAlert: true }]) {
      show(props)
      await begin()
      expect(dialog()?.getAttribute('role')).toBe(props.isAlert ? 'alertdialog' : 'dialog')
      await pressOutside()
      expect(open.value).toBe(true)
      await press('Escape')
      expect(open.value).toBe(false)
      wrapper.unmount()
    }
    show()
  })

  it('is not closed by anything while it is busy', async () => {
    show({ closeLabel: 'Close' })
    await begin()
    busy.value = true
    await settle()
    await press('Escape')
    await pressOutside()
    document.getElementById('close')?.click()
    expect(document.querySelector<HTMLButtonElement>('[aria-label=Close]')?.disabled).toBe(true)
    expect(open.value).toBe(true)
    busy.value = false
    await settle()
    document.getElementById('close')?.click()
    expect(open.value).toBe(false)
  })

  it('is a form if its owner waits for a submit', async () => {
    show({ isForm: true })
    await begin()
    document.querySelector('form')?.dispatchEvent(new Event('submit', { bubbles: true, cancelable: true }))
    expect(submits).toBe(1)
  })

  it('opened from another one is above it, and closes alone', async () => {
    show()
    await begin()
    const second = ref(true)
    const other = mount(
      () =>
        h(AppDialog, {
          open: second.value,
          'onUpdate:open': (is: boolean) => (second.value = is),
          title: 'Above',
          testid: 'above',
          'aria-describedby': undefined,
        }),
      { attachTo: document.body },
    )
    await settle()
    const ids = [...document.querySelectorAll<HTMLElement>('[role=dialog]')].map((d) => d.dataset['testid'])
    expect(ids).toEqual(['it', 'above'])
    await press('Escape')
    expect([open.value, second.value]).toEqual([true, false])
    other.unmount()
  })
})
