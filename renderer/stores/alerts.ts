/** Alerts of the source, from its status stream, and the one-time announcement of new ones. */
import { defineStore } from 'pinia'
import { computed, ref, shallowRef, watch } from 'vue'
import type { Level, Notice } from '#core/api/frames.ts'
import type { Alert, AlertRule, AlertRuleView } from '#core/api/incidents.ts'
import { levelNames } from '../format/level-names.ts'
import { plainText } from '../format/plain-text.ts'
import { plural } from '../format/units.ts'
import { useConnectionStore } from './connection.ts'
import { noHost, refusal } from './refusal.ts'
import { useSourceStore } from './source.ts'

const GRAVITY: readonly Level[] = ['bad', 'watch', 'unknown', 'idle', 'ok']
export const levelLabels: Readonly<Record<Level, string>> = { ...levelNames, idle: 'ended' }
const NO_RULES = 'The alert rules were not loaded'
const NOT_SET = 'The alert rule was not changed'

export const useAlertsStore = defineStore('alerts', () => {
  const source = useSourceStore()
  const connection = useConnectionStore()
  /** Active alerts first, each part newest first. */
  const alerts = computed<readonly Alert[]>(() =>
    [...(source.frame?.alerts ?? [])].sort(
      (a, b) => Number(a.endMs !== null) - Number(b.endMs !== null) || b.fromMs - a.fromMs,
    ),
  )
  const active = computed(() => alerts.value.filter(({ endMs }) => endMs === null))
  /** Highest level of the active alerts; null if there are none. */
  const level = computed<Level | null>(
    () => GRAVITY.find((l) => active.value.some((alert) => alert.level === l)) ?? null,
  )

  /** Announcement for screen readers; made once per alert. */
  const announcement = ref('')
  let known: { readonly of: string; readonly ids: ReadonlySet<string> } | null = null
  watch(
    () => source.frame,
    (frame) => {
      if (frame === null) return
      const of = `${frame.source.cluster} ${source.switches}`
      const fresh = known?.of === of ? active.value.filter(({ id }) => known?.ids.has(id) === false) : []
      // The source reports its newest twenty alerts: older ids are dropped here, too.
      const ids = new Set(alerts.value.map(({ id }) => id))
      known = { of, ids }
      const [first] = fresh
      if (first === undefined) return
      const where = first.where === '' ? '' : `, ${first.where}`
      const more = fresh.length > 1 ? `, and ${plural(fresh.length - 1, 'more alert')}` : ''
      announcement.value = plainText(`Alert, ${levelLabels[first.level]}: ${first.text}${where}${more}`)
    },
    { immediate: true },
  )

  const isRulesOpen = ref(false)
  const rules = shallowRef<readonly AlertRuleView[] | null>(null)
  const notice = shallowRef<Notice | null>(null)
  /** Refusals of rules by kind. */
  const faults = shallowRef<Readonly<Partial<Record<AlertRule['kind'], Notice>>>>({})

  async function loadRules(): Promise<void> {
    if (connection.host === null) {
      notice.value = noHost(NO_RULES)
      return
    }
    try {
      rules.value = (await connection.host.api.incidents.alertRules()).rules
      notice.value = null
    } catch (error) {
      notice.value = refusal(NO_RULES, error)
    }
  }
  /** If the host refuses a rule, it stays as it was and its row shows the reason. */
  async function setRule(rule: AlertRule): Promise<boolean> {
    const setFault = (fault?: Notice): void => {
      const { [rule.kind]: _, ...others } = faults.value
      faults.value = fault === undefined ? others : { ...others, [rule.kind]: fault }
    }
    if (connection.host === null) {
      setFault(noHost(NOT_SET))
      return false
    }
    try {
      await connection.host.api.incidents.setAlertRule(rule)
      rules.value = rules.value?.map((one) => (one.kind === rule.kind ? { ...one, ...rule } : one)) ?? null
      setFault()
      return true
    } catch (error) {
      setFault(refusal(NOT_SET, error))
      return false
    }
  }
  function openRules(): void {
    isRulesOpen.value = true
    faults.value = {}
    void loadRules()
  }
  return { alerts, active, level, announcement, isRulesOpen, rules, notice, faults, loadRules, setRule, openRules }
})
