xquery version "3.1";
(: Makes a document of an auction (Saxon), and asks it what programs ask: joins, groups, sorts, text, new documents.
   $rounds: how often all is asked. The result is the same each time. :)
declare namespace map = "http://www.w3.org/2005/xpath-functions/map";
declare variable $rounds as xs:integer external;
declare variable $words := tokenize("the quick brown fox jumps over a lazy dog and runs into seven other foxes");

declare function local:random($n as xs:integer, $below as xs:integer) as xs:integer {
  (($n * 7919 + 104729) * ($n mod 613 + 31) idiv 7) mod $below
};

declare function local:auction($round as xs:integer) as document-node() {
  document {
    <site>
      <people>{
        for $p in 1 to 1500
        return <person id="p{$p}"><name>{$words[local:random($p, 14) + 1]} {local:random($p + $round, 97)}</name>
          <city>{$words[local:random($p * 3, 14) + 1]}</city></person>
      }</people>
      <items>{
        for $i in 1 to 3000
        return <item id="i{$i}" seller="p{local:random($i + $round, 1500) + 1}">
          <price>{local:random($i * 5, 10000) div 100}</price>
          <text>{for $k in 1 to 20 return $words[local:random($i * $k, 14) + 1]}</text></item>
      }</items>
    </site>
  }
};

declare function local:ask($d as document-node()) as element()* {
  let $sellers := map:merge(for $p in $d//person return map:entry(string($p/@id), $p))
  for $i in $d//item
  let $city := string($sellers(string($i/@seller))/city)
  group by $city
  order by sum($i/price ! xs:decimal(.)) descending, $city
  return <city name="{$city}" items="{count($i)}" mean="{format-number(avg($i/price ! xs:decimal(.)), '0.00')}">{
    for $text in $i/text[contains(., "fox") and matches(., "lazy.*dog")]
    let $short := replace(string($text), "(\w+) (\w)", "$2$1")
    order by $short
    return <t>{string-length($short)}</t>
  }</city>
};

sum(for $r in 1 to $rounds
    for $city at $n in local:ask(local:auction($r))
    return $n * count($city/t) + sum($city/t ! xs:integer(.)) mod 9973)
