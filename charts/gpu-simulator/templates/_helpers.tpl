{{/* What a schema cannot say about a pool. Call with (list name pool). */}}
{{- define "gpu-simulator.validate" -}}
{{- $name := index . 0 -}}
{{- $pool := index . 1 -}}
{{- if and (eq $pool.mechanism "counted") (or $pool.devices $pool.sharedCounters) -}}
{{- fail (printf "Pool %q is counted, so nobody would read its devices and sharedCounters: set mechanism to claimed or remove them." $name) -}}
{{- end -}}
{{- if and $pool.devices (not $pool.sharedCounters) (ne (len $pool.devices) (int $pool.gpuCount)) -}}
{{- fail (printf "Pool %q has gpuCount %d but lists %d devices: list one for each GPU, or none and they are made from gpuProduct and gpuMemory." $name (int $pool.gpuCount) (len $pool.devices)) -}}
{{- end -}}
{{- if and $pool.sharedCounters (not $pool.devices) -}}
{{- fail (printf "Pool %q has sharedCounters, but no devices that consume them." $name) -}}
{{- end -}}
{{- $sets := dict -}}
{{- range $pool.sharedCounters }}{{ $_ := set $sets .name true }}{{ end -}}
{{- $seen := dict -}}
{{- range $pool.devices -}}
{{- if hasKey $seen .name -}}
{{- fail (printf "Pool %q lists the device %q twice." $name .name) -}}
{{- end -}}
{{- $_ := set $seen .name true -}}
{{- if or (hasKey (.attributes | default dict) "uuid") (hasKey (.attributes | default dict) "parentUUID") -}}
{{- fail (printf "Device %q of pool %q brings its own UUID, but every node of the pool needs a different one: leave uuid and parentUUID out." .name $name) -}}
{{- end -}}
{{- $device := .name -}}
{{- range .consumesCounters -}}
{{- if not (hasKey $sets .counterSet) -}}
{{- fail (printf "Device %q of pool %q consumes the counter set %q, which is not among the pool's sharedCounters." $device $name .counterSet) -}}
{{- end -}}
{{- end -}}
{{- if and (or .taints .consumesCounters) (gt (len $pool.devices) 64) -}}
{{- fail (printf "Pool %q has %d devices, some with taints or counters: a ResourceSlice then holds at most 64." $name (len $pool.devices)) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* The pool's devices as YAML. Where a value differs from node to node, KWOK fills it in. */}}
{{- define "gpu-simulator.devices" -}}
{{- $devices := .devices | default list -}}
{{- if not $devices -}}
{{- range $i := until (int .gpuCount) -}}
{{- $attributes := dict "type" (dict "string" "gpu") "productName" (dict "string" $.gpuProduct) -}}
{{- $capacity := dict "memory" (dict "value" (printf "%dMi" (int $.gpuMemory))) -}}
{{- $devices = append $devices (dict "name" (printf "gpu-%d" $i) "attributes" $attributes "capacity" $capacity) -}}
{{- end -}}
{{- end -}}
{{- range $devices -}}
{{- $gpu := regexFind "^gpu-[0-9]+" .name -}}
{{- if $gpu -}}
{{- $key := ternary "uuid" "parentUUID" (eq $gpu .name) -}}
{{- $uuid := printf "{{ template \"uuid\" (print .metadata.name \"-%s\") }}" (trimPrefix "gpu-" $gpu) -}}
{{- $_ := set . "attributes" (set (deepCopy (.attributes | default dict)) $key (dict "string" $uuid)) -}}
{{- end }}
- {{ toYaml . | nindent 2 | trim }}
{{- end -}}
{{- end -}}

{{/* Labels of every Stage. */}}
{{- define "gpu-simulator.labels" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end -}}

{{/* The head of a ResourceSlice of the node that KWOK looks at. Call with (list $ suffix number-of-slices). */}}
{{- define "gpu-simulator.slice" -}}
{{- $root := index . 0 -}}
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata:
  name: kwok-{{ "{{ .metadata.name }}" }}-{{ index . 1 }}
  ownerReferences:
  - {apiVersion: v1, kind: Node, name: {{ "{{ .metadata.name | quote }}" }}, uid: {{ "{{ .metadata.uid }}" }}}
spec:
  driver: {{ $root.Values.draDriver.driver | quote }}
  nodeName: {{ "{{ .metadata.name | quote }}" }}
  # The release's revision: it grows with every upgrade and is the same for all slices of the pool.
  pool: {name: {{ "{{ .metadata.name | quote }}" }}, generation: {{ $root.Release.Revision }}, resourceSliceCount: {{ index . 2 }}}
{{- end -}}

{{/* KWOK looks at a node when it changes: the beat bounds the time until it sees a new or a vanished Stage. */}}
{{- define "gpu-simulator.beat" -}}
delay: {durationMilliseconds: {{ mul 1000 .Values.resyncSeconds }}}
steps:
- patch:
    subresource: status
    root: status
    template: |
      conditions: [{type: Ready, lastHeartbeatTime: {{ "{{ Now | quote }}" }}}]
{{- end -}}
