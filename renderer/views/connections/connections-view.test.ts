import { ORPCError } from '@orpc/client'
import { flushPromises, mount, type VueWrapper } from '@vue/test-utils'
import { describe, expect, it, vi } from 'vitest'
import type { CheckEvent, ClusterInput, ShownKey } from '#core/api/clusters.ts'
import { useClusterDraftStore } from '../../stores/cluster-draft.ts'
import { useConnectionsStore } from '../../stores/connections.ts'
import { freshPage, showSource } from '#tests/kits/renderer/view-page.ts'
import { rootText } from './card-model.ts'
import ConnectionsView from './ConnectionsView.vue'
import {
  card,
  connectionsFrame,
  demo,
  known,
  NOW_MS,
  openConnectionsHost,
  PRINT,
  prod,
  server,
  shownKey,
  stage,
  stepsTo,
  type SampleHost,
} from '#tests/kits/renderer/views/connections-host.ts'

// Generous, for loaded machines.
vi.setConfig({ testTimeout: 20_000 })
const HOSTILE = '<img src=x onerror=alert(1)>\u202E$(id)'
let host: SampleHost
let wrapper: VueWrapper
freshPage(1100, () => wrapper.unmount())

async function show(patch: Partial<SampleHost> = {}): Promise<void> {
  vi.spyOn(HTMLCanvasElement.prototype, 'getContext').mockReturnValue(null)
  showSource(NOW_MS, 'LIVE')
  host = openConnectionsHost(patch)
  wrapper = mount(ConnectionsView, { attachTo: document.body, global: { stubs: { LineChart: true } } })
  await vi.waitFor(() => expect(host.acks).toBeGreaterThan(0))
  await flushPromises()
}
const find = <E extends HTMLElement = HTMLElement>(id: string, root: ParentNode = document): E => {
  const found = root.querySelector<E>(`[data-testid="${id}"]`)
  if (!found) throw new Error(`no ${id}`)
  return found
}
const has = (id: string): boolean => document.querySelector(`[data-testid="${id}"]`) !== null
const cardOf = (name: string): HTMLElement => {
  const found = document.querySelector<HTMLElement>(`[data-cluster="${name}"]`)
  if (!found) throw new Error(`no card of ${name}`)
  return found
}
async function click(element: HTMLElement): Promise<void> {
  element.click()
  await flushPromises()
}
async function type(field: HTMLInputElement, text: string): Promise<void> {
  field.value = text
  field.dispatchEvent(new Event('input', { bubbles: true }))
  await flushPromises()
}
const hostsField = (): HTMLInputElement => {
  const field = document.querySelector<HTMLInputElement>('[data-autofocus] input')
  if (!field) throw new Error('no field of hosts')
  return field
}
const press = async (key: string, target: Element = document.body): Promise<void> => {
  target.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }))
  await flushPromises()
}
const verbs = (verb: string): unknown[] => host.calls.filter((c) => c.verb === verb).map((c) => c.input)

/** Shows the key first, and the whole checklist after it is trusted. */
const keyFirst =
  (key: ShownKey) =>
  (_: unknown, attempt: number): CheckEvent[] =>
    attempt === 1
      ? [
          { kind: 'steps', host: key.host, steps: stepsTo('host key', 'you') },
          { kind: 'key', host: key.host, key },
          { kind: 'end', ok: false },
        ]
      : [
          { kind: 'steps', host: key.host, steps: stepsTo('end') },
          { kind: 'key', host: key.host, key: known(key.host) },
          { kind: 'found', server: server(key.host) },
          { kind: 'end', ok: true },
        ]
async function addUpToKey(key: ShownKey, hosts = 'cetus-mgs'): Promise<void> {
  await show({ check: keyFirst(key) })
  await press('n')
  await type(hostsField(), hosts)
  await click(find('panel-continue'))
  await vi.waitFor(() => find('host-key'))
}

describe('cards', () => {
  it('name each cluster with its environment, its servers folded by role, its facts and its probes', async () => {
    await show()
    const altair = cardOf('altair')
    expect(altair.textContent).toContain('PROD')
    const groups = [...altair.querySelectorAll('[data-testid="server-group"]')].map((g) =>
      g.textContent.replace(/\s+/g, ' '),
    )
    expect(groups[0]).toContain('login1.hpcbastion')
    expect(groups[1]).toContain('altair-mgsMGS1.2 ms')
    expect(groups[3]).toContain('oss01 to oss1248 OST')
    expect(groups[3]).toContain('12 of 12')
    expect(altair.textContent).toContain('compared, 3 Mar, mira')
    expect(altair.textContent).toContain('2.15.8 \u00B7 4 CPT \u00B7 tbf')
    expect(cardOf('borealis').querySelector('.st.watch')?.textContent).toContain('any lctl, too broad')
    expect(find('card-mode', cardOf('altair')).textContent).toContain('Observe')
    expect(cardOf('vega').textContent).toContain('Policy is fifo')
    expect(find('cost-now').textContent).toContain('37 KB/s')
  })

  it('expand a role to its servers, with the reason for no answer and the next retry', async () => {
    vi.spyOn(Date, 'now').mockReturnValue(NOW_MS)
    await show()
    const group = cardOf('borealis').querySelector<HTMLElement>('[data-kind="oss"] button')
    if (!group) throw new Error('no group')
    expect(group.getAttribute('aria-expanded')).toBe('false')
    await click(group)
    const line = cardOf('borealis').querySelector('[data-host="oss03"]')
    expect(line?.textContent).toContain('no answer from port 22')
    expect(line?.textContent).toContain('for 4 min, retry in 00:21')
    expect(line?.textContent).toContain('at TCP: connect 10.6.0.2:22 via login1.hpc')
    expect(cardOf('borealis').querySelector('[data-host="oss01"]')?.textContent).toContain('0.8 ms')
  })

  it('are walked with j and k; Enter connects one and puts it on screen, c disconnects', async () => {
    await show()
    await press('j')
    await press('j')
    expect(cardOf('vega').getAttribute('aria-current')).toBe('true')
    await press('Enter')
    await vi.waitFor(() => expect(verbs('show')).toEqual([{ name: 'vega' }]))
    expect(verbs('connect')).toEqual([{ name: 'vega' }])
    await press('j')
    await press('Enter')
    await vi.waitFor(() => expect(verbs('show').at(-1)).toEqual({ name: null }))
    await press('k')
    await press('k')
    await press('c')
    expect(verbs('disconnect')).toEqual([{ name: 'borealis' }])
  })

  it('switch a probe off and show a refusal beside the card', async () => {
    const why = { code: 'NOT_HERE', what: 'The probe stays on', why: 'the controller needs it' }
    await show({ refuses: new Map([['setProbe', new ORPCError('REFUSED', { defined: true, data: why })]]) })
    const toggle = cardOf('altair').querySelector<HTMLElement>('[data-probe="job_stats"] [role="switch"]')
    if (!toggle) throw new Error('no toggle')
    await click(toggle)
    expect(verbs('setProbe')).toEqual([{ name: 'altair', probe: 'job_stats', on: false }])
    expect(cardOf('altair').textContent).toContain('The probe stays on: the controller needs it.')
    expect(cardOf('borealis').textContent).not.toContain('The probe stays on')
  })

  it('let root write only after the name is typed, and revoke it at once', async () => {
    const asRoot = [server('mgs', { sudo: { kind: 'root', text: 'logged in as root', level: 'watch' } })]
    const vega = card('vega', { servers: asRoot })
    await show({ frame: connectionsFrame({ clusters: [vega] }) })
    const connections = useConnectionsStore()
    connections.allowingRoot = 'vega'
    await flushPromises()
    expect(find('root-dialog').textContent).toContain('Logged in as root: mgs')
    const button = find<HTMLButtonElement>('root-allow')
    for (const wrong of ['', 'vega ', 'VEGA', 'altair']) {
      await type(find('root-typed'), wrong)
      expect(button.disabled).toBe(true)
    }
    find('root-dialog')
      .querySelector('form')
      ?.dispatchEvent(new Event('submit', { cancelable: true, bubbles: true }))
    await flushPromises()
    expect(verbs('setAllowRoot')).toEqual([])
    await type(find('root-typed'), 'vega')
    await click(button)
    expect(verbs('setAllowRoot')).toEqual([{ name: 'vega', allow: true, typed: 'vega' }])
    expect(has('root-dialog')).toBe(false)
    await connections.setAllowRoot('vega', false)
    expect(verbs('setAllowRoot').at(-1)).toEqual({ name: 'vega', allow: false, typed: '' })
  })

  it('say in the menu whether root may write', () => {
    const asRoot = [server('mgs', { sudo: { kind: 'root', text: 'logged in as root', level: 'watch' } })]
    const plain = card('vega')
    if (!plain.input) throw new Error('no input')
    expect(rootText({ ...plain, servers: asRoot })).toBe('root login: writes are disabled')
    expect(rootText({ ...plain, servers: asRoot, input: { ...plain.input, allowRoot: true } })).toBe(
      'root logins can write',
    )
    expect(rootText({ ...plain, servers: [server('mgs')] })).toBe('requires a dedicated login with sudo')
  })

  it('are removed only after the name was typed', async () => {
    await show()
    useConnectionsStore().removing = 'vega'
    await flushPromises()
    const button = find<HTMLButtonElement>('remove')
    for (const wrong of ['', 'vega ', 'VEGA', 'altair']) {
      await type(find('remove-typed'), wrong)
      expect(button.disabled).toBe(true)
    }
    find('remove-dialog')
      .querySelector('form')
      ?.dispatchEvent(new Event('submit', { cancelable: true, bubbles: true }))
    await flushPromises()
    expect(verbs('remove')).toEqual([])
    await type(find('remove-typed'), 'vega')
    await click(button)
    expect(verbs('remove')).toEqual([{ name: 'vega' }])
    expect(has('remove-dialog')).toBe(false)
  })
})

describe('the fingerprint of a first key', () => {
  it('is trusted only when all 43 characters of the pasted one are equal', async () => {
    await addUpToKey(shownKey())
    expect(find('fingerprint').textContent.replace(/\s/g, '')).toBe(PRINT)
    expect(has('key-art')).toBe(true)
    const field = find<HTMLInputElement>('paste-fingerprint')
    const trust = find<HTMLButtonElement>('trust')
    expect(trust.disabled).toBe(true)
    await type(field, PRINT.slice(0, 7 + 28))
    expect(find('compared').textContent).toBe('28 of 43 equal')
    expect(trust.disabled).toBe(true)
    for (const wrong of [`${PRINT.slice(0, -1)}J`, `${PRINT}A`, PRINT.toLowerCase()]) {
      await type(field, wrong)
      expect(trust.disabled).toBe(true)
      expect(find('compared').querySelector('.st.bad')).not.toBeNull()
    }
    trust.click()
    expect(verbs('trust')).toEqual([])
    await type(field, `256 ${PRINT} root@cetus-mgs (ED25519)`)
    expect(find('compared').textContent).toBe('43 of 43 equal')
    await click(trust)
    expect(verbs('trust')).toEqual([
      { host: 'cetus-mgs', port: 22, type: 'ssh-ed25519', fingerprint: PRINT, compared: true },
    ])
    // The server is checked again, and the checklist continues.
    await vi.waitFor(() => expect(useClusterDraftStore().step).toBe(2))
    expect(verbs('check')).toHaveLength(2)
    expect(find<HTMLButtonElement>('panel-continue').disabled).toBe(false)
  })

  it('is trusted without comparing only by two presses, and reported to the host as such', async () => {
    await addUpToKey(shownKey())
    await click(find('trust-uncompared'))
    expect(verbs('trust')).toEqual([])
    expect(find('trust-uncompared').textContent).toContain('press again')
    await click(find('trust-uncompared'))
    expect(verbs('trust')).toEqual([expect.objectContaining({ compared: false })])
  })

  it.each(['changed', 'revoked', 'weak', 'unreadable'] as const)(
    'that is %s is refused without any button',
    async (verdict) => {
      // The window refuses the key even if the host allowed it.
      await addUpToKey(shownKey({ verdict, isOpen: true, why: 'known_hosts:14' }))
      expect(find('key-refused').getAttribute('role')).toBe('alert')
      expect(find('key-refused').textContent).toContain('No login was attempted')
      expect(find('host-key').querySelectorAll('button, input')).toHaveLength(0)
      expect(await useClusterDraftStore().trust(shownKey({ verdict }), false)).toBe(false)
      expect(verbs('trust')).toEqual([])
      expect(find<HTMLButtonElement>('panel-continue').disabled).toBe(true)
    },
  )

  it('has no trust button if the host does not allow it', async () => {
    await addUpToKey(shownKey({ isOpen: false }))
    expect(find('host-key').querySelectorAll('button, input')).toHaveLength(0)
  })
})

describe('adding a cluster', () => {
  it('takes ranges, checks the first server alone, then the others, then saves it read only and connects it', async () => {
    await show({
      check: ({ host: name }) => [
        { kind: 'steps', host: name, steps: stepsTo('end') },
        { kind: 'key', host: name, key: known(name) },
        { kind: 'found', server: server(name) },
        { kind: 'end', ok: true },
      ],
    })
    await click(find('add-cluster'))
    await type(hostsField(), 'cetus-mgs oss[01-03]')
    expect(find('hosts-told').textContent).toContain('4 servers: cetus-mgs, oss01 to oss03')
    expect(find('hosts-told').textContent).toContain('cetus-mgs is mira@10.6.0.2:22 via login1.hpc')
    expect(find<HTMLInputElement>('cluster-name').value).toBe('cetus')
    await click(find('panel-continue'))
    await vi.waitFor(() => expect(find<HTMLButtonElement>('panel-continue').disabled).toBe(false))
    const checkedHosts = (): unknown[] => verbs('check').map((input) => (input as { host: string }).host)
    expect(checkedHosts()).toEqual(['cetus-mgs'])
    await click(find('panel-continue'))
    await vi.waitFor(() => expect(find('server-checks').textContent).toContain('4 of 4 checked, 4 ok'))
    expect(checkedHosts()).toEqual(['cetus-mgs', 'oss01', 'oss02', 'oss03'])
    await click(find('panel-connect'))
    const [saved] = verbs('save') as [{ cluster: { name: string; safeMode: string; servers: { host: string }[] } }]
    expect(saved.cluster).toMatchObject({ name: 'cetus', env: 'PROD', safeMode: 'read-only' })
    expect(saved.cluster.servers.map((s) => s.host)).toEqual(['cetus-mgs', 'oss01', 'oss02', 'oss03'])
    expect(verbs('connect')).toEqual([{ name: 'cetus' }])
  })

  it('asks for the token rate of an OST, saves none unasked, and proposes what was measured', async () => {
    await show()
    await press('n')
    await type(hostsField(), 'cetus-mgs')
    expect(find('address-step').textContent).toContain('1\u202F000 is assumed: a guess until calibrated')
    await type(find<HTMLInputElement>('cluster-rate'), '0')
    expect(useClusterDraftStore().faults.maxRate).toBe('A whole number from 1 to 999999.')
    await type(find<HTMLInputElement>('cluster-rate'), '')
    await click(find('panel-continue'))
    await vi.waitFor(() => expect(find<HTMLButtonElement>('panel-continue').disabled).toBe(false))
    await click(find('panel-continue'))
    await click(find('panel-connect'))
    expect(verbs('save')).toMatchObject([{ cluster: { name: 'cetus', maxRate: null } }])
    const rate = { perOst: 1000, isGuess: true, busiest: null }
    const saved = card('cetus', { input: { ...(card('cetus').input as ClusterInput), maxRate: null } })
    const apply = (busiest: number | null): void =>
      useConnectionsStore().apply(connectionsFrame({ clusters: [{ ...saved, rate: { ...rate, busiest } }] }))
    apply(null)
    await flushPromises()
    expect(find('ost-rate').textContent).toContain('1\u202F000 RPC/s is a guess until T is set or calibrated')
    expect([has('rate-propose'), find<HTMLButtonElement>('rate-set').disabled]).toEqual([false, true])
    apply(639.2)
    await flushPromises()
    expect(find('ost-rate').textContent).toContain('The busiest OST served 640 RPC/s')
    await click(find('rate-propose'))
    await click(find('rate-set'))
    expect(verbs('setMaxRate')).toEqual([{ name: 'cetus', maxRate: 640 }])
  })

  it('shows errors, keeps all input through a refusal, and clears it only on Discard', async () => {
    await show()
    await press('n')
    await type(hostsField(), 'oss[3-1]')
    expect(document.querySelector('[role="alert"]')?.textContent).toContain('oss[3-1] is not a range')
    await type(find('cluster-user'), 'mira;id')
    await click(find('panel-continue'))
    expect(verbs('check')).toEqual([])
    expect(find('side-panel').textContent).toContain('to fix')
    await click(find('close-panel'))
    expect(has('side-panel')).toBe(false)
    await press('n')
    expect(hostsField().value).toBe('oss[3-1]')
    expect(find<HTMLInputElement>('cluster-user').value).toBe('mira;id')
    await click(find('panel-cancel'))
    await press('n')
    expect(hostsField().value).toBe('')
  })

  it('takes no name that another cluster has', async () => {
    await show()
    await press('n')
    await type(hostsField(), 'x1')
    await type(find('cluster-name'), 'altair')
    expect(find('side-panel').textContent).toContain('A cluster named altair already exists')
  })

  it('reads a pasted column of hosts as several', async () => {
    await show()
    await press('n')
    const event = new Event('paste', { bubbles: true, cancelable: true })
    Object.assign(event, { clipboardData: { getData: () => 'oss01\noss02\r\noss03\n' } })
    hostsField().dispatchEvent(event)
    await flushPromises()
    expect(find('hosts-told').textContent).toContain('3 servers: oss01 to oss03')
  })

  it('shows the failed step with its fix, and does not continue', async () => {
    const fix = 'mira ALL=(root) NOPASSWD: /usr/sbin/lctl get_param *'
    await show({
      check: () => [
        { kind: 'steps', host: 'a', steps: stepsTo('sudo', 'bad', { detail: 'sudo: a password is required', fix }) },
        { kind: 'key', host: 'a', key: known('a') },
        { kind: 'end', ok: false },
      ],
    })
    await press('n')
    await type(hostsField(), 'a-mgs')
    await click(find('panel-continue'))
    await vi.waitFor(() => expect(document.querySelector('[data-step="sudo"]')?.getAttribute('data-state')).toBe('bad'))
    const line = document.querySelector('[data-step="sudo"]')
    expect(line?.textContent).toContain('failed')
    expect(line?.textContent).toContain('sudo: a password is required')
    expect(line?.querySelector('pre')?.textContent).toBe(fix)
    expect(find<HTMLButtonElement>('panel-continue').disabled).toBe(true)
  })

  it('keeps the focus inside when a step takes its field away, and gives it back at the end', async () => {
    await show()
    const add = find('add-cluster')
    add.focus()
    await click(add)
    expect(document.activeElement).toBe(hostsField())
    await type(hostsField(), 'cetus-mgs')
    await click(find('panel-continue'))
    await vi.waitFor(() => expect(find('side-panel').contains(document.activeElement)).toBe(true))
    await press('Escape', document.activeElement ?? document.body)
    await flushPromises()
    expect(has('side-panel')).toBe(false)
    expect(document.activeElement).toBe(add)
  })
})

describe('leftovers', () => {
  it('are listed worst first and removed by their keys after the name is typed', async () => {
    await show({ ends: [{ host: 'oss01', state: 'done', detail: 'read back without it' }] })
    await click(find('card-leftovers', cardOf('borealis')).querySelector('button') as HTMLElement)
    const rows = [...find('side-panel').querySelectorAll('[data-key]')]
    expect(rows.map((r) => r.getAttribute('data-key'))).toEqual([
      'oss01 ost_io reg hog4690',
      'oss02 ost_io reg hog4471',
    ])
    expect(rows[0]?.querySelector('.st.bad')?.textContent).toContain('no timer')
    rows[1]?.querySelector<HTMLInputElement>('input')?.dispatchEvent(new Event('change'))
    await flushPromises()
    const button = find<HTMLButtonElement>('clean')
    expect(button.textContent.trim()).toBe('Remove 1 leftover')
    await type(find('clean-typed'), 'Borealis')
    expect(button.disabled).toBe(true)
    await type(find('clean-typed'), 'borealis')
    await click(button)
    expect(verbs('clean')).toEqual([{ name: 'borealis', keys: ['oss01 ost_io reg hog4690'], typed: 'borealis' }])
    expect(find('clean-ends').textContent).toContain('read back without it')
  })
})

describe('hostile text of a cluster stays text', () => {
  it('from banners, sudo, host names, keys, leftovers and the checklist', async () => {
    const bad = server('oss01', {
      text: HOSTILE,
      state: 'lost',
      level: 'bad',
      login: HOSTILE,
      policy: HOSTILE,
      version: HOSTILE,
      via: HOSTILE,
      sudo: { kind: 'broad', text: HOSTILE, level: 'watch' },
      channel: HOSTILE,
      algorithms: HOSTILE,
      key: shownKey({ why: HOSTILE, host: HOSTILE, type: HOSTILE, fingerprint: HOSTILE }),
      steps: stepsTo('auth', 'bad', { detail: HOSTILE, fix: HOSTILE, command: HOSTILE }),
    })
    const left = stage().leftovers.map((l) => ({ ...l, rule: HOSTILE, text: HOSTILE, owner: HOSTILE, timer: HOSTILE }))
    const clusters = [
      card('evil', {
        servers: [bad],
        text: HOSTILE,
        leftovers: left,
        notices: [{ code: 'X', what: HOSTILE, next: HOSTILE }],
      }),
      prod(),
    ]
    await show({
      frame: connectionsFrame({ clusters, ignored: [HOSTILE] }),
      check: keyFirst(shownKey({ why: HOSTILE, type: HOSTILE, via: HOSTILE, fingerprint: HOSTILE })),
    })
    for (const group of cardOf('evil').querySelectorAll<HTMLElement>('.tree button')) group.click()
    await flushPromises()
    useConnectionsStore().chosen = 'evil'
    await press('t')
    await vi.waitFor(() => find('host-key'))
    const isInert = (): void => {
      expect(document.body.querySelector('img, script')).toBeNull()
      expect(document.body.textContent).not.toContain('\u202E')
      expect(document.body.textContent).toContain('<img src=x onerror=alert(1)>\u2039202E\u203A$(id)')
      for (const { title } of document.body.querySelectorAll<HTMLElement>('[title]'))
        expect(title).not.toContain('\u202E')
    }
    isInert()
    useConnectionsStore().open('leftovers', 'evil')
    await flushPromises()
    isInert()
  })
})

it('checks every server of a cluster on t, and shows the one that needs action first', async () => {
  await show({
    check: ({ host: name }) =>
      name === 'mds02'
        ? [
            { kind: 'steps', host: name, steps: stepsTo('auth', 'bad', { detail: 'no key was taken' }) },
            { kind: 'end', ok: false },
          ]
        : [
            { kind: 'steps', host: name, steps: stepsTo('end') },
            { kind: 'end', ok: true },
          ],
  })
  await press('t')
  await vi.waitFor(() => expect(find('server-checks').textContent).toContain('15 of 15 checked, 14 ok'))
  expect(find('server-checks').textContent).toContain('failed at Auth')
  expect(find('checklist').textContent).toContain('no key was taken')
})

describe('the scenarios of the demo', () => {
  const menu = async (): Promise<HTMLElement[]> => {
    const trigger = find('card-scenario')
    trigger.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true, cancelable: true }))
    await vi.waitFor(() => find('play-scenario'))
    return [...document.querySelectorAll<HTMLElement>('[data-testid="play-scenario"]')]
  }

  it('are chosen on its card, which marks the present one', async () => {
    const scenario = 'Four OSTs, one heavy job'
    await show({ frame: connectionsFrame({ clusters: [prod(), demo({ scenario })] }) })
    expect(cardOf('altair').querySelector('[data-testid="card-scenario"]')).toBe(null)
    const entries = await menu()
    expect(entries.map((e) => e.textContent.trim())).toEqual([scenario, 'Night'])
    expect(entries.map((e) => e.getAttribute('aria-checked') === 'true')).toEqual([true, false])
    await click(entries[1]!)
    expect(verbs('play')).toEqual([{ scenario: 'own/night' }])
  })

  it('that are refused say why on the card', async () => {
    await show()
    const data = { code: 'STAGED', what: 'The scenario was not started', why: 'changes are staged on demo' }
    host.refuses.set('play', new ORPCError('REFUSED', { defined: true, data }))
    const [entry] = await menu()
    await click(entry!)
    await vi.waitFor(() => expect(cardOf('demo').textContent).toContain('changes are staged on demo'))
  })
})
