/** Frame of the window over a live cluster: unlock, global stop, passphrase, switching, and missing data. */
import { ORPCError } from '@orpc/client'
import { flushPromises, mount, type VueWrapper } from '@vue/test-utils'
import { describe, expect, it, vi } from 'vitest'
import { defineComponent, h, type Component } from 'vue'
import { createMemoryHistory, createRouter } from 'vue-router'
import type { StatusFrame } from '#core/api/frames.ts'
import { useConnectionStore } from '../stores/connection.ts'
import { useConnectionsStore } from '../stores/connections.ts'
import { useEnforcementStore } from '../stores/enforcement.ts'
import { useJobsTableStore } from '../stores/jobs-table.ts'
import { unavailableReason } from '../stores/availability.ts'
import { useLocksStore } from '../stores/locks.ts'
import { useOutageStore } from '../stores/outage.ts'
import { useRuleDraftStore } from '../stores/rule-draft.ts'
import { useRulesViewStore } from '../stores/rules-view.ts'
import { useSelectionStore } from '../stores/selection.ts'
import { resetForSource } from '../stores/source-switch.ts'
import { useSourceStore } from '../stores/source.ts'
import { useTimeStore } from '../stores/time.ts'
import { freshPage } from '#tests/kits/renderer/view-page.ts'
import {
  connectionsFrame,
  NOW_MS,
  openConnectionsHost,
  prod,
  stepsTo,
  type SampleHost,
} from '#tests/kits/renderer/views/connections-host.ts'
import ClusterMenu from './ClusterMenu.vue'
import ModeDialog from './ModeDialog.vue'
import { useCatalogueItems } from './palette/catalogue-items.ts'
import NoticeList from './NoticeList.vue'
import OtherConsoleMark from './OtherConsoleMark.vue'
import PassphraseDialog from './PassphraseDialog.vue'
import StaleBar from './StaleBar.vue'
import StopDialog from './StopDialog.vue'
import TakeOverDialog from './TakeOverDialog.vue'
import ClearingDialog from './ClearingDialog.vue'
import UnlockDialog from './UnlockDialog.vue'
import WaitingState from './WaitingState.vue'

const HOSTILE = '<img src=x onerror=alert(1)>\u202E'
let host: SampleHost
let wrapper: VueWrapper | null = null
freshPage(1100, () => {
  wrapper?.unmount()
  wrapper = null
  vi.useRealTimers()
})

const status = (patch: object = {}): StatusFrame =>
  ({
    source: { cluster: 'altair', env: 'PROD', kind: 'LIVE', sinceMs: NOW_MS },
    atMs: NOW_MS,
    sample: 40,
    oldest: 1,
    staged: 0,
    mode: 'observe',
    safeMode: 'review+unlock',
    unlockedUntilMs: null,
    controller: 'none',
    notices: [],
    counts: { jobs: 1, targets: 1, rules: 4 },
    clock: { intervalMs: 1000, speed: 1, achieved: 1, sampleAgeMs: 100 },
    nodes: { total: 15, reporting: 14, missing: [] },
    ...patch,
  }) as unknown as StatusFrame

async function show(
  component: Component,
  frame: StatusFrame = status(),
  patch: Partial<SampleHost> = {},
): Promise<void> {
  host = openConnectionsHost(patch)
  useSourceStore().apply(frame)
  if (host.frame) useConnectionsStore().apply(host.frame)
  const routes = ['rules', 'connections', 'overview'].map((name) => ({
    path: `/${name}`,
    name,
    component: { render: () => null },
  }))
  const router = createRouter({ history: createMemoryHistory(), routes })
  await router.push('/overview')
  wrapper = mount(component, { attachTo: document.body, global: { plugins: [router] } })
  await flushPromises()
}
const find = <E extends HTMLElement = HTMLElement>(id: string): E => {
  const found = document.querySelector<E>(`[data-testid="${id}"]`)
  if (!found) throw new Error(`no ${id}`)
  return found
}
const has = (id: string): boolean => document.querySelector(`[data-testid="${id}"]`) !== null
async function click(element: HTMLElement): Promise<void> {
  element.click()
  await flushPromises()
}
async function type(id: string, text: string): Promise<void> {
  const field = find<HTMLInputElement>(id)
  field.value = text
  field.dispatchEvent(new Event('input', { bubbles: true }))
  await flushPromises()
}
const verbs = (): string[] => host.calls.map((c) => c.verb)

describe('a change of mode or controller', () => {
  const open = { safeMode: 'review', mode: 'enforce', controller: 'adaptbf' }

  it('that writes or removes rules is confirmed, with the effect; Enter by mistake changes nothing', async () => {
    await show(ModeDialog, status(open))
    useEnforcementStore().requestChange({ mode: 'advise' })
    await flushPromises()
    const dialog = find('mode-dialog')
    expect(dialog.getAttribute('role')).toBe('alertdialog')
    expect(dialog.textContent).toContain('Switch altair to Advise?')
    expect(dialog.textContent).toContain('The rules of AdapTBF are removed from all servers.')
    expect(dialog.textContent).toContain('Manually committed rules are unaffected.')
    expect(document.activeElement?.textContent).toBe('Cancel')
    await click(document.activeElement as HTMLElement)
    expect([has('mode-dialog'), verbs()]).toEqual([false, []])
    useEnforcementStore().requestChange({ mode: 'advise' })
    await flushPromises()
    await click(find('mode-confirm'))
    expect(host.calls).toEqual([{ verb: 'setMode', input: { mode: 'advise' } }])
    expect(has('mode-dialog')).toBe(false)
  })

  it('to Enforce, or of the controller in it, names the controller that writes', async () => {
    await show(ModeDialog, status({ ...open, mode: 'advise' }))
    useEnforcementStore().requestChange({ mode: 'enforce' })
    await flushPromises()
    expect(find('mode-dialog').textContent).toContain('AdapTBF writes the rules that it computes')
    useSourceStore().apply(status(open))
    useEnforcementStore().requestChange({ controller: 'none' })
    await flushPromises()
    expect(find('mode-dialog').textContent).toContain('Change the controller of altair to None?')
    expect(find('mode-dialog').textContent).toContain('No controller writes rules.')
    expect(verbs()).toEqual([])
  })

  it('that reaches no server is not confirmed; nor is one that asks for the unlock', async () => {
    await show(ModeDialog, status())
    useEnforcementStore().requestChange({ mode: 'advise' })
    await flushPromises()
    expect([has('mode-dialog'), verbs()]).toEqual([false, ['setMode']])
    useEnforcementStore().requestChange({ mode: 'enforce' })
    expect([useEnforcementStore().asked, useEnforcementStore().isUnlockOpen]).toEqual([null, true])
  })

  it('is asked for again if the cluster changes meanwhile', async () => {
    await show(ModeDialog, status(open))
    useEnforcementStore().requestChange({ mode: 'observe' })
    await flushPromises()
    useSourceStore().apply(status({ ...open, source: { cluster: 'borealis', env: 'STAGE', kind: 'LIVE' } }))
    await flushPromises()
    expect([has('mode-dialog'), verbs()]).toEqual([false, []])
  })
})

describe('unlocking', () => {
  it('is required by Enforce on a locked live cluster, and sets the mode after the name was typed', async () => {
    await show(UnlockDialog)
    useEnforcementStore().setMode('enforce')
    await flushPromises()
    expect(verbs()).toEqual([])
    const button = find<HTMLButtonElement>('unlock')
    for (const wrong of ['', 'Altair', 'altair ', 'yes']) {
      await type('unlock-typed', wrong)
      expect(button.disabled).toBe(true)
    }
    document.querySelector('form')?.dispatchEvent(new Event('submit', { cancelable: true, bubbles: true }))
    await flushPromises()
    expect(verbs()).toEqual([])
    await type('unlock-typed', 'altair')
    await click(button)
    expect(host.calls).toEqual([
      { verb: 'unlock', input: { typed: 'altair' } },
      { verb: 'setMode', input: { mode: 'enforce' } },
    ])
    expect(has('unlock-dialog')).toBe(false)
    expect(useEnforcementStore().isLocked()).toBe(false)
  })

  it('is not required if the safe mode does not need it, nor for reading', async () => {
    await show(UnlockDialog)
    const enforcement = useEnforcementStore()
    enforcement.setMode('advise')
    useSourceStore().apply(status({ safeMode: 'review' }))
    enforcement.setMode('enforce')
    useSourceStore().apply(status({ source: { cluster: 'demo', env: 'DEMO', kind: 'EMULATED' } }))
    enforcement.setMode('enforce')
    await flushPromises()
    expect(verbs()).toEqual(['setMode', 'setMode', 'setMode'])
    expect(enforcement.isUnlockOpen).toBe(false)
  })

  it('is required again once it has expired', async () => {
    await show(UnlockDialog, status({ unlockedUntilMs: Date.now() - 1 }))
    useEnforcementStore().setMode('enforce')
    expect(useEnforcementStore().isUnlockOpen).toBe(true)
    expect(verbs()).toEqual([])
  })

  it('stays open with the reason when the host refuses', async () => {
    const data = { code: 'WRONG_NAME', what: 'The cluster was not unlocked', why: 'the fence stands' }
    await show(UnlockDialog, status(), {
      refuses: new Map([['unlock', new ORPCError('REFUSED', { defined: true, data })]]),
    })
    useEnforcementStore().openUnlock('enforce')
    await flushPromises()
    await type('unlock-typed', 'altair')
    await click(find('unlock'))
    expect(find('unlock-dialog').textContent).toContain('the fence stands')
    expect(verbs()).toEqual(['unlock'])
  })

  it('closes on a change of cluster, so that a name typed for one unlocks no other', async () => {
    await show(UnlockDialog)
    useEnforcementStore().openUnlock('enforce')
    await flushPromises()
    await type('unlock-typed', 'altair')
    useSourceStore().apply(status({ source: { cluster: 'borealis', env: 'STAGE', kind: 'LIVE' } }))
    await flushPromises()
    expect(has('unlock-dialog')).toBe(false)
  })

  it('of counters to be cleared needs the typed name, and stays open with the reason of a refusal', async () => {
    const data = { code: 'OTHERS_READ', what: 'Not cleared', why: '1 other sluice-read process runs on oss01' }
    await show(ClearingDialog, status({ mode: 'enforce' }), {
      refuses: new Map([['startClearing', new ORPCError('REFUSED', { defined: true, data })]]),
    })
    useEnforcementStore().openClearing()
    await flushPromises()
    for (const wrong of ['', 'Altair', 'altair ']) {
      await type('clearing-typed', wrong)
      expect(find<HTMLButtonElement>('clearing-start').disabled).toBe(true)
    }
    await type('clearing-typed', 'altair')
    await click(find('clearing-start'))
    expect(host.calls).toEqual([{ verb: 'startClearing', input: { typed: 'altair' } }])
    expect(find('clearing-dialog').textContent).toContain('1 other sluice-read process runs on oss01')
  })

  it('shows the time left in the title bar', async () => {
    vi.useFakeTimers({ now: NOW_MS })
    await show(ClusterMenu, status({ mode: 'enforce', unlockedUntilMs: NOW_MS + 860_000 }))
    expect(find('cluster').textContent).toContain('altair')
    expect(find('mode').textContent).toBe('Enforce')
    expect(find('unlock-left').textContent).toBe('14:20 left')
    await vi.advanceTimersByTimeAsync(10_000)
    expect(find('unlock-left').textContent).toBe('14:10 left')
    await vi.advanceTimersByTimeAsync(860_000)
    expect(has('unlock-left')).toBe(false)
  })
})

describe('stopping everything', () => {
  it('shows what would be removed, and sends only at the second press', async () => {
    await show(StopDialog, status(), { ends: [{ host: 'oss01', state: 'done', detail: '' }] })
    await useEnforcementStore().openStop()
    await flushPromises()
    expect(find('stop-dialog').textContent).toContain('4 rules on 14 of 15 servers')
    expect(find('stop-script').textContent).toContain('stop hog4690')
    await click(find('stop-all'))
    expect(verbs()).toEqual(['stopScript'])
    expect(find('stop-all').textContent).toContain('Press again: remove rules from altair')
    await click(find('stop-all'))
    expect(verbs()).toEqual(['stopScript', 'stopAll'])
    expect(find('stop-result').textContent).toContain('4 rules removed.')
    expect(has('stop-all')).toBe(false)
  })

  it('forgets the first press after five seconds', async () => {
    vi.useFakeTimers()
    await show(StopDialog)
    await useEnforcementStore().openStop()
    await flushPromises()
    await click(find('stop-all'))
    await vi.advanceTimersByTimeAsync(5001)
    await click(find('stop-all'))
    expect(verbs()).not.toContain('stopAll')
  })

  it('lists the servers that were not cleared, and offers to retry', async () => {
    const ends: SampleHost['ends'] = [
      { host: 'oss01', state: 'done', detail: '' },
      { host: 'oss02', state: 'unknown', detail: `channel lost ${HOSTILE}` },
    ]
    await show(StopDialog, status(), { ends })
    await useEnforcementStore().openStop()
    await flushPromises()
    await click(find('stop-all'))
    await click(find('stop-all'))
    expect(document.querySelector('[data-state="unknown"]')?.textContent).toContain('oss02')
    expect(document.querySelector('[data-state="done"]')).toBeNull()
    expect(document.querySelector('img')).toBeNull()
    expect(document.body.textContent).not.toContain('\u202E')
    expect(has('stop-all')).toBe(true)
  })

  it('never reports success if the connection was lost', async () => {
    await show(StopDialog)
    await useEnforcementStore().openStop()
    await flushPromises()
    host.refuses.set('stopAll', new Error('socket closed'))
    const enforcement = useEnforcementStore()
    const sent = enforcement.stopAll()
    useConnectionStore().lost(1000)
    await sent
    expect(enforcement.stopResult).toBeNull()
    expect(enforcement.stopNotice?.code).toBe('STOP_UNKNOWN')
  })
})

describe('the answer of a stop', () => {
  const done = ['oss01', 'oss02'].map((server) => ({ host: server, state: 'done' as const, detail: '' }))
  const stop = async (patch: Partial<SampleHost>): Promise<void> => {
    await show(StopDialog, status(), { ends: done, ...patch })
    await useEnforcementStore().openStop()
    await flushPromises()
    await click(find('stop-all'))
    await click(find('stop-all'))
  }

  it('is ok only after the servers were read back', async () => {
    await stop({})
    expect(find('stop-result').textContent).toContain('Stopped')
    expect(find('stop-result').querySelector('.st')?.classList).toContain('ok')
    expect(has('stop-all')).toBe(false)
  })

  it('is uncertain, with the reason and a retry, if a later reading is missing', async () => {
    const why = 'a command is still in progress there and may act later'
    await stop({ ends: [...done, { host: 'oss03', state: 'unknown', detail: why }] })
    expect(find('stop-result').textContent).toContain('Uncertain')
    expect(find('stop-result').querySelector('.st')?.classList).toContain('watch')
    expect(find('stop-dialog').textContent).toContain(why)
    expect(find('stop-all').textContent).toContain('Stop again')
  })

  it('lists other consoles whose rules were removed, too, as text', async () => {
    const lease = { console: `mira@login1${HOSTILE}`, lease: 'sluice-lease-1' }
    await stop({
      others: [
        { ...lease, host: 'oss01' },
        { ...lease, host: 'oss02' },
      ],
    })
    expect(document.querySelectorAll('[data-testid="stop-other"]').length).toBe(1)
    expect(find('stop-other').textContent).toContain('mira@login1')
    expect(find('stop-other').textContent).toContain('oss01, oss02')
    expect(find('stop-other').textContent).toContain('can write again')
    expect(document.querySelector('img')).toBeNull()
  })

  it('shows the current step meanwhile', async () => {
    await show(StopDialog, status({ stopping: { step: 'removing' } }))
    await useEnforcementStore().openStop()
    await flushPromises()
    useEnforcementStore().isStopping = true
    await flushPromises()
    const states = [...find('stop-progress').querySelectorAll('li')].map((li) => li.dataset['state'])
    expect(states).toEqual(['done', 'now', 'next'])
  })
})

describe('another console that enforces', () => {
  const leases = ['oss01', 'oss02'].map((server, i) => ({
    host: server,
    console: 'mira@login1',
    lease: 'sluice-lease-mira--login1-a1-1',
    expiresMs: NOW_MS + (i + 1) * 20_000,
  }))
  const data = {
    code: 'OTHER_CONSOLE',
    what: 'Enforce was not entered',
    why: 'mira@login1 enforces on oss01, oss02',
    next: 'Use Observe or Advise, or take over.',
  }
  const Both = defineComponent(() => () => [h(NoticeList), h(TakeOverDialog), h(OtherConsoleMark)])
  const refused = async (): Promise<void> => {
    vi.useFakeTimers({ toFake: ['Date'] })
    vi.setSystemTime(NOW_MS)
    await show(Both, status({ safeMode: 'review', otherLeases: leases }), {
      refuses: new Map([['setMode', new ORPCError('REFUSED', { defined: true, data })]]),
    })
    useEnforcementStore().setMode('enforce')
    await flushPromises()
  }

  it('is named while it controls the cluster', async () => {
    await show(Both, status({ otherLeases: leases }))
    expect(find('other-console').textContent).toContain('controlled by mira@login1')
    expect(find('other-console').title).toContain('oss01, oss02')
    useSourceStore().apply(status({ otherLeases: [] }))
    await flushPromises()
    expect(has('other-console')).toBe(false)
  })

  it('can be taken over from only after its name, servers and lease were shown and the cluster name was typed', async () => {
    await refused()
    expect(useSourceStore().frame?.mode).toBe('observe')
    await click(find('take-over-open'))
    const dialog = document.querySelector('[role="alertdialog"]')
    expect(dialog?.textContent).toContain('mira@login1 enforces on oss01, oss02')
    expect(find('other-consoles').textContent).toContain('in 00:40')
    expect(document.activeElement?.textContent.trim()).toBe('Cancel')
    for (const wrong of ['', 'Altair', 'mira@login1']) {
      await type('take-over-typed', wrong)
      expect(find<HTMLButtonElement>('take-over').disabled).toBe(true)
    }
    host.refuses.delete('setMode')
    await type('take-over-typed', 'altair')
    await click(find('take-over'))
    expect(host.calls).toEqual([
      { verb: 'setMode', input: { mode: 'enforce' } },
      { verb: 'setMode', input: { mode: 'enforce', takeOver: true } },
    ])
    expect(has('take-over-dialog')).toBe(false)
    expect(has('take-over-open')).toBe(false)
    expect(useSourceStore().frame?.mode).toBe('enforce')
  })

  it('needs a new confirmation if the cluster changes meanwhile', async () => {
    await refused()
    await click(find('take-over-open'))
    useSourceStore().apply(status({ source: { cluster: 'borealis', env: 'STAGE', kind: 'LIVE' } }))
    await flushPromises()
    expect(has('take-over-dialog')).toBe(false)
  })
})

describe('a passphrase', () => {
  const asks = [{ id: 'a1', file: '/home/mira/.ssh/id_altair', host: 'altair-mgs', attempt: 2 }]
  it('is sent to the host once and is not kept in the page', async () => {
    await show(PassphraseDialog, status(), { frame: connectionsFrame({ asks }) })
    expect(find('passphrase-dialog').textContent).toContain('Incorrect passphrase')
    expect(find<HTMLInputElement>('passphrase').type).toBe('password')
    await type('passphrase', 'open sesame')
    await click(find('passphrase-send'))
    expect(host.calls).toEqual([{ verb: 'passphrase', input: { id: 'a1', passphrase: 'open sesame' } }])
    expect(has('passphrase-dialog')).toBe(false)
    const kept = JSON.stringify([useConnectionsStore().$state, useSourceStore().$state])
    expect(kept).not.toContain('open sesame')
  })
  it('can be skipped', async () => {
    await show(PassphraseDialog, status(), {
      frame: connectionsFrame({ asks: [{ ...asks[0], file: HOSTILE } as never] }),
    })
    expect(document.querySelector('img')).toBeNull()
    await click(find('passphrase-skip'))
    expect(host.calls).toEqual([{ verb: 'passphrase', input: { id: 'a1', passphrase: null } }])
  })
})

describe('without a connection to the cluster', () => {
  const away = (): Partial<SampleHost> => {
    const servers = prod().servers.map((s) => ({
      ...s,
      state: 'refused' as const,
      level: 'bad' as const,
      text: 'gone',
    }))
    return { frame: connectionsFrame({ clusters: [prod({ onScreen: true, servers })] }) }
  }
  const openMenu = async (): Promise<void> => {
    find('cluster').dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true }))
    await vi.waitFor(() => expect(has('mode-enforce')).toBe(true))
  }
  const isOff = (id: string): boolean => find(id).hasAttribute('data-disabled')

  it('disables everything that writes, with the reason; Observe stays available', async () => {
    await show(ClusterMenu, status({ mode: 'enforce' }), away())
    await openMenu()
    const why = useOutageStore().off
    expect(why).toContain('No connection to altair')
    for (const id of ['mode-advise', 'mode-enforce', 'menu-unlock', 'controller-adaptbf', 'controller-none']) {
      expect([id, isOff(id), find(id).title]).toEqual([id, true, why])
      const description = find(id).getAttribute('aria-describedby') ?? ''
      expect([id, document.getElementById(description)?.textContent]).toEqual([id, why])
    }
    expect(isOff('mode-observe')).toBe(false)
    await click(find('mode-enforce'))
    expect(verbs()).toEqual([])
  })

  it('unlocks nothing by a typed name, and keeps it', async () => {
    await show(UnlockDialog, status(), away())
    useEnforcementStore().openUnlock()
    await flushPromises()
    await type('unlock-typed', 'altair')
    const button = find<HTMLButtonElement>('unlock')
    expect([button.disabled, button.title]).toEqual([true, useOutageStore().off])
    document.querySelector('form')?.dispatchEvent(new Event('submit', { cancelable: true, bubbles: true }))
    await flushPromises()
    expect(verbs()).toEqual([])
    expect(find<HTMLInputElement>('unlock-typed').value).toBe('altair')
  })

  it('shows commands as unavailable in the palette, with the reason', async () => {
    await show(ClusterMenu, status(), away())
    const offs = (): [string | undefined, string | undefined, string | undefined] => [
      unavailableReason('rules.stage') ?? undefined,
      unavailableReason('frame.stop-all') ?? undefined,
      unavailableReason('theme.next') ?? undefined,
    ]
    const { off } = useOutageStore()
    const verb = {
      id: 'mode-enforce',
      group: 'Commands',
      title: 'Mode: Enforce',
      needs: 'servers',
      run: () => undefined,
    } as const
    const items = useCatalogueItems()
    expect(items([verb]).find((i) => i.id === verb.id)?.why).toBe(off)
    expect(offs()).toEqual([off, undefined, undefined])
    useConnectionStore().lost(1000)
    const lost = useOutageStore().hostOff
    expect(lost).toContain('No connection to the Sluice host')
    expect(offs()).toEqual([lost, lost, undefined])
  })
})

describe('why there is no data', () => {
  const silent = (): ReturnType<typeof prod> => {
    const failed = stepsTo('sudo', 'bad', {
      detail: `sudo: a password is required ${HOSTILE}`,
      fix: 'mira ALL=(root) lctl',
    })
    return prod({
      servers: prod().servers.map((s, i) => ({
        ...s,
        state: 'refused' as const,
        level: 'bad' as const,
        text: HOSTILE,
        steps: i === 3 ? stepsTo('tcp', 'bad', { detail: 'timed out' }) : failed,
      })),
    })
  }
  it('shows the first failing step, with its command and the fix', async () => {
    const frame = connectionsFrame({ clusters: [silent()] })
    await show(WaitingState, status({ atMs: null, sample: 0 }), { frame })
    expect(find('connecting').textContent).toContain('oss01 stopped at TCP')
    expect(find('step-of').textContent).toMatch(/^step \d+ of \d+$/)
    const [first] = frame.clusters
    if (!first) throw new Error('no cluster')
    useConnectionsStore().apply({
      ...frame,
      clusters: [{ ...first, servers: first.servers.filter((_, i) => i !== 3) }],
    })
    await flushPromises()
    expect(find('permission').textContent).toContain('sudo: a password is required')
    expect(find('permission').textContent).toContain('and 13 other servers')
    expect(find('refused-command').textContent).toBe('sudo -n -l')
    expect(find('sudoers').textContent).toBe('mira ALL=(root) lctl')
    expect(document.querySelector('img')).toBeNull()
    expect(document.body.textContent).not.toContain('\u202E')
    await click(find('to-connections'))
  })
  it('shows since when samples are missing, and retries on demand', async () => {
    await show(StaleBar, status({ clock: { intervalMs: 1000, sampleAgeMs: 7400 } }), {
      frame: connectionsFrame({ clusters: [silent()] }),
    })
    expect(find('stale').textContent).toContain('No sample for 7 s.')
    expect(find('stale').textContent).toContain('1 of 15 servers does not answer.')
    expect(find('stale').textContent).toContain('timed out')
    await click(find('stale-retry'))
    expect(host.calls).toEqual([{ verb: 'connect', input: { name: 'altair' } }])
  })
})

describe('another active source', () => {
  it('clears all selections of the previous one', async () => {
    await show(ClusterMenu)
    const selection = useSelectionStore()
    const time = useTimeStore()
    const jobs = useJobsTableStore()
    const rules = useRulesViewStore()
    const locks = useLocksStore()
    const draft = useRuleDraftStore()
    const source = useSourceStore()
    selection.select('4690.python', { inspect: true })
    time.goTo(12)
    jobs.filter = '4690'
    jobs.target = 'altair-OST0003'
    rules.node = 'oss03'
    rules.isReviewOpen = true
    locks.select('altair-OST0001')
    draft.open({ service: 'ost_io', form: { name: 'hog4690' } })
    source.apply(status({ sample: 41 }))
    expect(source.switches).toBe(0)
    source.apply(status({ source: { cluster: 'borealis', env: 'STAGE', kind: 'LIVE' }, sample: 3 }))
    expect(source.switches).toBe(1)
    resetForSource()
    expect([selection.jobId, selection.inspectorOpen, time.at]).toEqual([null, false, null])
    expect([jobs.filter, jobs.target, rules.node, rules.isReviewOpen]).toEqual(['', '', '', false])
    expect([locks.selected, draft.draft]).toEqual(['', null])
  })

  it('does not inherit a mode accepted on the previous one', async () => {
    await show(ClusterMenu)
    const source = useSourceStore()
    await source.setMode('enforce')
    expect(source.frame?.mode).toBe('enforce')
    source.apply(status({ source: { cluster: 'borealis', env: 'STAGE', kind: 'LIVE' } }))
    expect(source.frame?.mode).toBe('observe')
  })
})
