{{/* UUID version 5 in the nil namespace: the same name gives the same UUID as in fake-gpu-operator. */ -}}
{{ define "uuid" -}}
{{ $hash := sha1sum (print "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00" .) -}}
{{ $variant := index (list "8" "9" "a" "b") (mod (print "0x" (substr 16 17 $hash)) 4) -}}
GPU-{{ substr 0 8 $hash }}-{{ substr 8 12 $hash }}-5{{ substr 13 16 $hash }}-{{ $variant }}{{ substr 17 20 $hash }}-{{ substr 20 32 $hash }}
{{- end -}}
