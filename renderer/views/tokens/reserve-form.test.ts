import { ORPCError } from '@orpc/client'
import { flushPromises, mount, type VueWrapper } from '@vue/test-utils'
import { describe, expect, it, vi } from 'vitest'
import type { TokensFrame } from '#core/api/tokens.ts'
import { freshPage, resendFrame, showSource } from '#tests/kits/renderer/view-page.ts'
import {
  CLIENTS,
  clientsOf,
  NOW_MS,
  openTokensHost,
  tokensFrame,
  type TokensHost,
} from '#tests/kits/renderer/views/tokens-host.ts'
import TokensView from './TokensView.vue'

let host: TokensHost
let wrapper: VueWrapper

freshPage(1200, () => wrapper.unmount())

async function show(frame: TokensFrame = tokensFrame(), kind = 'EMULATED'): Promise<void> {
  showSource(NOW_MS, kind)
  host = openTokensHost(frame)
  wrapper = mount(TokensView, { attachTo: document.body, global: { stubs: { Sparkline: true } } })
  await vi.waitFor(() => expect(host.acks).toBeGreaterThan(0))
  await flushPromises()
}
const resend = (frame: TokensFrame): Promise<void> => resendFrame(host, frame)
/** Finds an element of the page, where popovers are mounted. */
const inPage = (id: string): HTMLElement | null => document.querySelector(`[data-testid="${id}"]`)
const press = (key: string, target: EventTarget = document.body): void => {
  target.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }))
}
async function type(id: string, text: string): Promise<void> {
  const field = inPage(id) as HTMLInputElement
  field.value = text
  field.dispatchEvent(new Event('input', { bubbles: true }))
  await flushPromises()
}
const verdict = (): string => inPage('verdict')?.textContent ?? ''

describe('a reservation', () => {
  const open = async (client = 'c07'): Promise<void> => {
    await wrapper.find(`[data-client=${client}]`).trigger('click')
    press('e')
    await vi.waitFor(() => expect(inPage('reserve-r')).not.toBeNull())
  }
  it('is checked while it is typed: limit, excess, and finishing time of equal shares', async () => {
    await show()
    await open()
    await vi.waitFor(() => expect(verdict()).toContain('In force'))
    await type('reserve-r', '120k')
    await vi.waitFor(() => expect(verdict()).toContain('Admitted, from the next period on'))
    expect(verdict()).toContain('97.2\u202F% of the period')
    await type('reserve-r', '500k')
    await vi.waitFor(() => expect(verdict()).toContain('Refused'))
    expect(verdict()).toContain('100000 over what one client can do')
    expect(verdict()).toContain('by 233\u202F000')
    expect((inPage('reserve-apply') as HTMLButtonElement).disabled).toBe(true)
    expect(host.calls.filter((c) => c.verb === 'reserve')).toEqual([])
  })

  it('that is not valid shows the reason and keeps the input, also when the form is closed', async () => {
    await show()
    await open()
    for (const [text, why] of [
      ['-5', 'cannot be negative'],
      ['1.5', 'must be a whole number'],
      ['9'.repeat(40), 'counted exactly'],
      ['<b>', 'a whole number'],
    ] as const) {
      await type('reserve-r', text)
      expect(inPage('fault-r')?.textContent).toContain(why)
      expect((inPage('reserve-r') as HTMLInputElement).value).toBe(text)
      expect((inPage('reserve-apply') as HTMLButtonElement).disabled).toBe(true)
    }
    await type('reserve-l', '2,5')
    expect(inPage('fault-l')?.textContent).toContain('a comma')
    inPage('reserve-close')?.click()
    await flushPromises()
    await vi.waitFor(() => expect(inPage('reserve')).toBeNull())
    await open()
    expect((inPage('reserve-r') as HTMLInputElement).value).toBe('<b>')
    expect((inPage('reserve-l') as HTMLInputElement).value).toBe('2,5')
    inPage('reserve-reset')?.click()
    await flushPromises()
    expect((inPage('reserve-r') as HTMLInputElement).value).toBe('110\u202F000')
  })

  it('is applied, and shows the period from which it is in effect', async () => {
    await show()
    await open()
    await type('reserve-r', '120 000')
    await type('reserve-l', '150k')
    await vi.waitFor(() => expect(verdict()).toContain('Admitted'))
    inPage('reserve-apply')?.click()
    await vi.waitFor(() => expect(inPage('holds')?.textContent).toContain('period 418'))
    expect(host.calls.at(-1)).toEqual({
      verb: 'reserve',
      input: { node: 'dn0', client: 'c07', reservation: 120_000, limit: 150_000 },
    })
  })

  it('that the host refuses is kept with the reason', async () => {
    await show()
    host.refuses = new ORPCError('REFUSED', {
      defined: true,
      data: { code: 'TOKENS_GLOBAL', what: 'c07 was not admitted', why: 'global: 4 000 over' },
    })
    await open()
    await type('reserve-r', '120000')
    await vi.waitFor(() => expect(verdict()).toContain('Admitted'))
    inPage('reserve-apply')?.click()
    await vi.waitFor(() => expect(inPage('reserve')?.textContent).toContain('global: 4 000 over'))
    expect((inPage('reserve-r') as HTMLInputElement).value).toBe('120000')
  })

  it('of a client that leaves meanwhile is kept', async () => {
    await show()
    await open()
    await type('reserve-r', '123')
    await resend(tokensFrame({ seq: 2, clients: clientsOf(CLIENTS.filter((c) => c.key !== 'c07')) }))
    expect(inPage('reserve')?.textContent).toContain('This client has left')
    expect((inPage('reserve-r') as HTMLInputElement).value).toBe('123')
  })

  it('of a recording cannot be changed', async () => {
    await show(tokensFrame(), 'RECORDED')
    expect(wrapper.find('fieldset').attributes('disabled')).toBeDefined()
    await open()
    await type('reserve-r', '120000')
    await vi.waitFor(() => expect(verdict()).toContain('Admitted'))
    expect((inPage('reserve-apply') as HTMLButtonElement).disabled).toBe(true)
  })
})
