/** A controller added to the list of controllers appears in the window's menus, forms and help. */
import { flushPromises, mount, type VueWrapper } from '@vue/test-utils'
import { describe, expect, it, vi } from 'vitest'
import { createMemoryHistory, createRouter } from 'vue-router'
import type { Component } from 'vue'
import type { StatusFrame } from '#core/api/frames.ts'
import { EQUAL, EQUAL_DEFINITION } from '#tests/kits/made-up-controller.ts'
import { freshPage } from '#tests/kits/renderer/view-page.ts'
import { scenarioCheck, variantOf } from '#tests/kits/renderer/views/sandbox-host.ts'
import { openConnectionsHost } from '#tests/kits/renderer/views/connections-host.ts'
import { useSourceStore } from '../stores/source.ts'
import { rulesMeanings } from '../help/meanings/rules.ts'
import VariantForm from '../views/sandbox/VariantForm.vue'
import AddVariant from '../views/sandbox/AddVariant.vue'
import ClusterMenu from './ClusterMenu.vue'
import { usePaletteVerbs } from './palette/verbs.ts'

vi.mock('#core/controllers/definitions.ts', async (original) => {
  const { EQUAL_DEFINITION } = await import('#tests/kits/made-up-controller.ts')
  const real = await original<typeof import('#core/controllers/definitions.ts')>()
  return { ...real, CONTROLLERS: [...real.CONTROLLERS, EQUAL_DEFINITION] }
})

let wrapper: VueWrapper | undefined
freshPage(1100, () => wrapper?.unmount())

const find = (id: string): HTMLElement | null => document.querySelector<HTMLElement>(`[data-testid="${id}"]`)
async function show(component: Component, props: object = {}): Promise<void> {
  openConnectionsHost({})
  useSourceStore().apply({
    source: { cluster: 'demo', env: 'DEMO', kind: 'EMULATED', sinceMs: 0 },
    atMs: 0,
    sample: 40,
    oldest: 1,
    staged: 0,
    mode: 'observe',
    safeMode: 'review',
    unlockedUntilMs: null,
    controller: EQUAL,
    notices: [],
    counts: { jobs: 1, targets: 1, rules: 4 },
    clock: { intervalMs: 1000, speed: 1, achieved: 1, sampleAgeMs: 100 },
    nodes: { total: 1, reporting: 1, missing: [] },
  } as unknown as StatusFrame)
  const routes = ['overview', 'sandbox', 'connections', 'rules', 'metadata', 'locks'].map((name) => ({
    path: `/${name}`,
    name,
    component: { render: () => null },
  }))
  const router = createRouter({ history: createMemoryHistory(), routes })
  await router.push('/overview')
  wrapper = mount(component, { attachTo: document.body, props, global: { plugins: [router] } })
  await flushPromises()
}
const open = (trigger: string): boolean | undefined =>
  find(trigger)?.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true }))

describe('a controller that is added to the list', () => {
  it('can be chosen in the menu of the cluster, which names it', async () => {
    await show(ClusterMenu)
    expect(find('controller')?.textContent).toBe(EQUAL_DEFINITION.title)
    open('cluster')
    await vi.waitFor(() => expect(find(`controller-${EQUAL}`)?.textContent).toContain(EQUAL_DEFINITION.summary))
  })

  it('can be chosen in the form of a variant', async () => {
    await show(VariantForm, {
      variant: variantOf('x', { controller: EQUAL }),
      isBaseline: false,
      check: scenarioCheck(),
      seconds: 60,
    })
    expect(find(`controller-${EQUAL}`)?.textContent).toContain(EQUAL_DEFINITION.title)
    expect(document.body.textContent).toContain(EQUAL_DEFINITION.about)
  })

  it('is offered as a variant', async () => {
    await show(AddVariant)
    open('add-variant')
    await vi.waitFor(() => expect(document.body.textContent).toContain(EQUAL_DEFINITION.title))
  })

  it('is a command of the palette', async () => {
    const commands: string[] = []
    await show({
      setup() {
        const verbs = usePaletteVerbs()
        commands.push(...verbs.value.map((v) => v.title))
        return () => null
      },
    })
    expect(commands).toContain(`Controller: ${EQUAL_DEFINITION.title}`)
  })

  it('has its rules named in the help', () => {
    expect(rulesMeanings.map((m) => ('caveat' in m ? m.caveat : '')).join(' ')).toContain('ev_')
  })
})
