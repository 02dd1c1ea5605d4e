/** What the host found, as groups of the palette. */
import {
  Activity,
  Building2,
  CircleUser,
  FlaskConical,
  HardDrive,
  ListOrdered,
  NotebookPen,
  Plug,
  Server,
} from '@lucide/vue'
import type { Component } from 'vue'
import type { Found, FoundKind } from '#core/api/search.ts'
import { plainText } from '../../format/plain-text.ts'
import { formatNumber, plural } from '../../format/units.ts'
import type { Item } from './item.ts'

export const groupTitles: Readonly<Record<FoundKind, string>> = {
  ...{ job: 'Jobs', rule: 'Rules', target: 'Targets', node: 'Nodes', user: 'Users', account: 'Accounts' },
  ...{ incident: 'Incidents', cluster: 'Clusters', scenario: 'Scenarios' },
}
const icons: Readonly<Record<FoundKind, Component>> = {
  ...{ job: Activity, rule: ListOrdered, target: HardDrive, node: Server, user: CircleUser, account: Building2 },
  ...{ incident: NotebookPen, cluster: Plug, scenario: FlaskConical },
}

function faceOf(of: Found): { name: string; title: string; hint: string } {
  if (of.kind === 'job') {
    const whose = [of.user, of.account].filter(Boolean).join(', ')
    const now = !of.isThere ? 'ended' : of.rpcs === null ? 'not measured' : `${formatNumber(of.rpcs)} RPC/s`
    return { name: of.id, title: of.id, hint: [whose, now].filter(Boolean).join(' \u00B7 ') }
  }
  if (of.kind === 'rule') {
    const where = [of.conditions, of.queue === 'hp' ? 'hp' : '', of.service === 'ost_io' ? '' : of.service]
    return {
      name: `${of.service} ${of.queue} ${of.name} ${of.conditions}`,
      title: of.name,
      hint: where.filter(Boolean).join(' \u00B7 '),
    }
  }
  if (of.kind === 'incident') return { name: of.id, title: `${of.id} ${of.title}`, hint: of.status }
  if (of.kind === 'scenario') return { name: of.id, title: of.title, hint: of.own ? 'saved here' : 'built in' }
  if (of.kind === 'cluster')
    return { name: of.name, title: of.name, hint: of.via === '' ? of.env : `${of.env} \u00B7 ${of.via}` }
  if (of.kind === 'target') return { name: of.name, title: of.name, hint: of.node }
  if (of.kind === 'node') return { name: of.name, title: of.name, hint: of.role }
  return { name: of.name, title: of.name, hint: plural(of.jobs, 'job') }
}

export function foundItems(found: readonly Found[], show: (found: Found) => void): Item[] {
  return found.map((of) => {
    const { name, title, hint } = faceOf(of)
    return {
      ...{ id: `${of.kind} ${name}`.slice(0, 600), group: groupTitles[of.kind], icon: icons[of.kind] },
      ...{ title: plainText(title), hint: plainText(hint) },
      ...(of.kind === 'job' && of.isThere ? { colour: of.colour } : {}),
      run: () => show(of),
    }
  })
}
