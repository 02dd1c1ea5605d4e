/** The columns of the list of rules, the ceiling and what stands around them. */
import type { Meaning } from '../meaning.ts'

export const rulesMeanings = [
  {
    id: 'rules.rank',
    title: 'Place in match order',
    unit: '',
    means: 'Rules are tried from the top; the first whose conditions hold takes the RPC.',
    formula: '',
    source: 'order of ost.OSS.ost_io.nrs_tbf_rule; rank= of start and change',
    caveat: 'A new rule goes to the head of the list. A change of rank alone does not move classes that are known.',
  },
  {
    id: 'rules.staged',
    title: 'Staged',
    unit: '',
    means: '+ will be started, ~ changed, \u2212 stopped, once it is committed. Nothing of it is on a server yet.',
    formula: '',
    source: 'the staged changes of this console',
  },
  {
    id: 'rules.name',
    title: 'Name and matcher',
    unit: '',
    means: 'Name of at most 15 characters and the conditions: & between fields, a list means any of it.',
    formula: '',
    source: 'ost.OSS.ost_io.nrs_tbf_rule',
    caveat: 'Rules with ab_, st_, pd_ or sl_ are those of Sluice; others are never stopped by it.',
  },
  {
    id: 'rules.rate',
    title: 'Rate',
    unit: 'RPC/s',
    means:
      'RPCs a second that one class gets, on each CPT, each queue and each server. The smaller line is the effective ceiling of them all.',
    formula: 'ceiling = rate \u00D7 CPTs reached \u00D7 queues \u00D7 servers',
    source: 'rate of nrs_tbf_rule; cpu_npartitions',
    caveat:
      'Not divided by the number of CPTs or targets. A client\u2019s NID reaches one CPT, a job\u2019s RPCs all of them.',
  },
  {
    id: 'rules.matching',
    title: 'Matching',
    unit: 'classes (ref)',
    means: 'Classes that are attached to the rule now. ref 0 for a minute: nobody meets its conditions.',
    formula: 'sum of ref over CPTs and servers',
    source: 'ref of nrs_tbf_rule',
    caveat: 'Idle classes stay attached until they are dropped from a list of 8 192.',
  },
  {
    id: 'rules.used',
    title: 'Tokens used',
    unit: '% of the rate',
    means:
      'What the job of the rule was served in the last second, of what its rule allows. Near 100 % the rule holds it back.',
    formula: 'RPC/s served / sum over servers of rate \u00D7 CPTs',
    source: 'job_stats; nrs_tbf_rule',
    caveat: 'Known for rules that name one job only.',
  },
  {
    id: 'rules.expires',
    title: 'Expires',
    unit: 'time left',
    means: 'When the server stops the rule by itself, laptop open or not.',
    formula: 'end of its timer \u2212 now',
    source: 'transient systemd timer of each server',
    caveat: 'Timers are lost with a reboot of the server, and so are the rules. Rules of others have none.',
  },
  {
    id: 'rules.servers',
    title: 'Servers',
    unit: 'with the rule / in all',
    means: 'On how many servers the rule stands with the same rate and conditions. Fewer than all is drift.',
    formula: 'k / n',
    source: 'nrs_tbf_rule of every server',
    caveat: 'After a fail-over the target\u2019s new server has no rule: set_param is not kept.',
  },
] as const satisfies readonly Meaning[]
