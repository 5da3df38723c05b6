/// The modules and kinds of the types of the standard library and of Foundation. A name is written with its kind, as mangling writes it: `C`,
/// `V`, `O` or `P`.
///
/// Made of the exported type descriptors of the toolchain's libraries.
enum TypeHomes {
  /// Names that stand for other types.
  static let aliases: [String: String] = [
    "TimeInterval": "Double", "NSRange": "_NSRange", "Void": "()", "StringLiteralType": "String",
    "NSErrorPointer": "NSError?",
    "Codable": "Decodable&Encodable",
  ]

  static let table: [(module: String, names: String)] = [
    (
      "Swift",
      """
      PAdditiveArithmetic VAnyBidirectionalCollection VAnyCollection VAnyHashable VAnyIndex VAnyIterator CAnyKeyPath
      VAnyRandomAccessCollection VAnySequence VArray VArraySlice PBidirectionalCollection PBinaryFloatingPoint PBinaryInteger
      VBool VCVaListPointer PCVarArg PCaseIterable VCharacter VClosedRange PCodingKey PCodingKeyRepresentable
      VCodingUserInfoKey PCollection VCollectionDifference OCollectionDifference.Change VCollectionDifference.Index
      VCollectionOfOne VCollectionOfOne.Iterator OCommandLine PComparable VContiguousArray PCustomDebugStringConvertible
      PCustomLeafReflectable PCustomPlaygroundDisplayConvertible PCustomReflectable PCustomStringConvertible PDecodable
      PDecoder ODecodingError VDecodingError.Context VDefaultIndices VDefaultStringInterpolation VDictionary VDictionary.Index
      VDictionary.Iterator VDictionary.Keys VDictionary.Keys.Iterator VDictionary.Values VDictionary.Values.Iterator
      VDiscontiguousSlice VDiscontiguousSlice.Index VDouble VDouble.SIMD16Storage VDouble.SIMD2Storage VDouble.SIMD32Storage
      VDouble.SIMD4Storage VDouble.SIMD64Storage VDouble.SIMD8Storage VDropFirstSequence VDropWhileSequence
      VDropWhileSequence.Iterator VDuration PDurationProtocol VEmptyCollection VEmptyCollection.Iterator PEncodable PEncoder
      OEncodingError VEncodingError.Context VEnumeratedSequence VEnumeratedSequence.Iterator PEquatable PError
      PExpressibleByArrayLiteral PExpressibleByBooleanLiteral PExpressibleByDictionaryLiteral
      PExpressibleByExtendedGraphemeClusterLiteral PExpressibleByFloatLiteral PExpressibleByIntegerLiteral
      PExpressibleByNilLiteral PExpressibleByStringInterpolation PExpressibleByStringLiteral
      PExpressibleByUnicodeScalarLiteral PFixedWidthInteger VFlattenSequence VFlattenSequence.Iterator VFloat
      VFloat.SIMD16Storage VFloat.SIMD2Storage VFloat.SIMD32Storage VFloat.SIMD4Storage VFloat.SIMD64Storage
      VFloat.SIMD8Storage VFloat16 VFloat16.SIMD16Storage VFloat16.SIMD2Storage VFloat16.SIMD32Storage VFloat16.SIMD4Storage
      VFloat16.SIMD64Storage VFloat16.SIMD8Storage VFloat80 PFloatingPoint OFloatingPointClassification
      OFloatingPointRoundingRule OFloatingPointSign PHashable VHasher PIdentifiable VIndexingIterator VInlineArray
      PInstantProtocol VInt VInt.SIMD16Storage VInt.SIMD2Storage VInt.SIMD32Storage VInt.SIMD4Storage VInt.SIMD64Storage
      VInt.SIMD8Storage VInt.Words VInt128 VInt16 VInt16.SIMD16Storage VInt16.SIMD2Storage VInt16.SIMD32Storage
      VInt16.SIMD4Storage VInt16.SIMD64Storage VInt16.SIMD8Storage VInt16.Words VInt32 VInt32.SIMD16Storage
      VInt32.SIMD2Storage VInt32.SIMD32Storage VInt32.SIMD4Storage VInt32.SIMD64Storage VInt32.SIMD8Storage VInt32.Words
      VInt64 VInt64.SIMD16Storage VInt64.SIMD2Storage VInt64.SIMD32Storage VInt64.SIMD4Storage VInt64.SIMD64Storage
      VInt64.SIMD8Storage VInt64.Words VInt8 VInt8.SIMD16Storage VInt8.SIMD2Storage VInt8.SIMD32Storage VInt8.SIMD4Storage
      VInt8.SIMD64Storage VInt8.SIMD8Storage VInt8.Words PIteratorProtocol VIteratorSequence VJoinedSequence
      VJoinedSequence.Iterator CKeyPath VKeyValuePairs VKeyedDecodingContainer PKeyedDecodingContainerProtocol
      VKeyedEncodingContainer PKeyedEncodingContainerProtocol PLazyCollectionProtocol VLazyDropWhileSequence
      VLazyDropWhileSequence.Iterator VLazyFilterSequence VLazyFilterSequence.Iterator VLazyMapSequence
      VLazyMapSequence.Iterator VLazyPrefixWhileSequence VLazyPrefixWhileSequence.Iterator VLazySequence PLazySequenceProtocol
      PLosslessStringConvertible CManagedBuffer VManagedBufferPointer OMemoryLayout VMirror OMirror.AncestorRepresentation
      OMirror.DisplayStyle PMirrorPath PMutableCollection VMutableRawSpan VMutableSpan ONever PNumeric OObjectIdentifier
      VOpaquePointer POptionSet OOptional VOutputRawSpan VOutputSpan CPartialKeyPath VPartialRangeFrom VPartialRangeThrough
      VPartialRangeUpTo VPrefixSequence VPrefixSequence.Iterator PRandomAccessCollection PRandomNumberGenerator VRange
      PRangeExpression PRangeReplaceableCollection VRangeSet VRangeSet.Ranges PRawRepresentable VRawSpan
      CReferenceWritableKeyPath VRepeated OResult VReversedCollection VReversedCollection.Index VReversedCollection.Iterator
      PSIMD VSIMD16 VSIMD2 VSIMD3 VSIMD32 VSIMD4 VSIMD64 VSIMD8 VSIMDMask PSIMDScalar PSIMDStorage PSequence VSet VSet.Index
      VSet.Iterator PSetAlgebra PSignedInteger PSignedNumeric PSingleValueDecodingContainer PSingleValueEncodingContainer
      VSlice VSpan VStaticBigInt VStaticString VStrideThrough VStrideThroughIterator VStrideTo VStrideToIterator PStrideable
      VString VString.Index VString.Iterator VString.UTF16View VString.UTF16View.Iterator VString.UTF8View
      VString.UnicodeScalarView VString.UnicodeScalarView.Iterator PStringInterpolationProtocol PStringProtocol VSubstring
      VSubstring.UTF16View VSubstring.UTF8View VSubstring.UnicodeScalarView VSystemRandomNumberGenerator PTextOutputStream
      PTextOutputStreamable VUInt VUInt.SIMD16Storage VUInt.SIMD2Storage VUInt.SIMD32Storage VUInt.SIMD4Storage
      VUInt.SIMD64Storage VUInt.SIMD8Storage VUInt.Words VUInt128 VUInt128.Words VUInt16 VUInt16.SIMD16Storage
      VUInt16.SIMD2Storage VUInt16.SIMD32Storage VUInt16.SIMD4Storage VUInt16.SIMD64Storage VUInt16.SIMD8Storage VUInt16.Words
      VUInt32 VUInt32.SIMD16Storage VUInt32.SIMD2Storage VUInt32.SIMD32Storage VUInt32.SIMD4Storage VUInt32.SIMD64Storage
      VUInt32.SIMD8Storage VUInt32.Words VUInt64 VUInt64.SIMD16Storage VUInt64.SIMD2Storage VUInt64.SIMD32Storage
      VUInt64.SIMD4Storage VUInt64.SIMD64Storage VUInt64.SIMD8Storage VUInt64.Words VUInt8 VUInt8.SIMD16Storage
      VUInt8.SIMD2Storage VUInt8.SIMD32Storage VUInt8.SIMD4Storage VUInt8.SIMD64Storage VUInt8.SIMD8Storage VUInt8.Words
      VUTF8Span VUTF8Span.CharacterIterator VUTF8Span.UnicodeScalarIterator OUnboundedRange_ VUnfoldSequence OUnicode
      OUnicode.ASCII VUnicode.ASCII.Parser VUnicode.CanonicalCombiningClass OUnicode.GeneralCategory OUnicode.NumericType
      OUnicode.ParseResult VUnicode.Scalar VUnicode.Scalar.Properties VUnicode.Scalar.UTF16View VUnicode.Scalar.UTF8View
      OUnicode.UTF16 VUnicode.UTF16.ForwardParser VUnicode.UTF16.ReverseParser OUnicode.UTF32 VUnicode.UTF32.Parser
      OUnicode.UTF8 VUnicode.UTF8.ForwardParser VUnicode.UTF8.ReverseParser VUnicode.UTF8.ValidationError
      VUnicode.UTF8.ValidationError.Kind PUnicodeCodec OUnicodeDecodingResult PUnkeyedDecodingContainer
      PUnkeyedEncodingContainer VUnmanaged VUnsafeBufferPointer VUnsafeBufferPointer.Iterator VUnsafeMutableBufferPointer
      VUnsafeMutablePointer VUnsafeMutableRawBufferPointer VUnsafeMutableRawPointer PUnsafePointer VUnsafeRawBufferPointer
      VUnsafeRawBufferPointer.Iterator VUnsafeRawPointer PUnsignedInteger CWritableKeyPath VZip2Sequence
      VZip2Sequence.Iterator
      """
    ),
    (
      "FoundationEssentials",
      """
      VAnySortComparator VAttributeContainer VAttributeContainer.Builder OAttributeDynamicLookup PAttributeScope
      VAttributeScopeCodableConfiguration OAttributeScopes VAttributeScopes.FoundationAttributes
      OAttributeScopes.FoundationAttributes.AlternateDescriptionAttribute
      OAttributeScopes.FoundationAttributes.ByteCountAttribute
      OAttributeScopes.FoundationAttributes.ByteCountAttribute.Component
      OAttributeScopes.FoundationAttributes.ByteCountAttribute.Unit OAttributeScopes.FoundationAttributes.DateFieldAttribute
      OAttributeScopes.FoundationAttributes.DateFieldAttribute.Field
      OAttributeScopes.FoundationAttributes.DurationFieldAttribute
      OAttributeScopes.FoundationAttributes.DurationFieldAttribute.Field
      OAttributeScopes.FoundationAttributes.ImageURLAttribute
      OAttributeScopes.FoundationAttributes.LanguageIdentifierAttribute OAttributeScopes.FoundationAttributes.LinkAttribute
      VAttributeScopes.FoundationAttributes.MeasurementAttribute
      OAttributeScopes.FoundationAttributes.MeasurementAttribute.Component
      VAttributeScopes.FoundationAttributes.NumberFormatAttributes
      OAttributeScopes.FoundationAttributes.NumberFormatAttributes.NumberPartAttribute
      OAttributeScopes.FoundationAttributes.NumberFormatAttributes.NumberPartAttribute.NumberPart
      OAttributeScopes.FoundationAttributes.NumberFormatAttributes.SymbolAttribute
      OAttributeScopes.FoundationAttributes.NumberFormatAttributes.SymbolAttribute.Symbol
      OAttributeScopes.FoundationAttributes.PersonNameComponentAttribute
      OAttributeScopes.FoundationAttributes.PersonNameComponentAttribute.Component
      OAttributeScopes.FoundationAttributes.ReplacementIndexAttribute
      OAttributeScopes.FoundationAttributes.WritingDirectionAttribute VAttributedString
      VAttributedString.AttributeInvalidationCondition OAttributedString.AttributeMergePolicy
      OAttributedString.AttributeRunBoundaries VAttributedString.CharacterView VAttributedString.Index VAttributedString.Runs
      VAttributedString.Runs.AttributesSlice1 VAttributedString.Runs.AttributesSlice1.Iterator
      VAttributedString.Runs.AttributesSlice2 VAttributedString.Runs.AttributesSlice2.Iterator
      VAttributedString.Runs.AttributesSlice3 VAttributedString.Runs.AttributesSlice3.Iterator
      VAttributedString.Runs.AttributesSlice4 VAttributedString.Runs.AttributesSlice4.Iterator
      VAttributedString.Runs.AttributesSlice5 VAttributedString.Runs.AttributesSlice5.Iterator VAttributedString.Runs.Index
      VAttributedString.Runs.Run VAttributedString.SingleAttributeTransformer VAttributedString.UTF16View
      VAttributedString.UTF8View VAttributedString.UnicodeScalarView OAttributedString.WritingDirection
      PAttributedStringAttributeMutation PAttributedStringKey PAttributedStringProtocol VAttributedSubstring VBundle VCalendar
      OCalendar.Component VCalendar.ComponentSet OCalendar.Identifier OCalendar.MatchingPolicy VCalendar.RecurrenceRule
      VCalendar.RecurrenceRule.End OCalendar.RecurrenceRule.Frequency VCalendar.RecurrenceRule.Month
      OCalendar.RecurrenceRule.Weekday OCalendar.RepeatedTimePolicy OCalendar.SearchDirection VCocoaError VCocoaError.Code
      VCodableConfiguration VComparableComparator OComparisonResult PContiguousBytes VData VData.Base64DecodingOptions
      VData.Base64EncodingOptions OData.Deallocator VData.InlineData VData.InlineSlice VData.Iterator VData.LargeSlice
      CData.RangeReference VData.ReadingOptions VData.SearchOptions VData.WritingOptions PDataProtocol VDate
      VDate.ISO8601FormatStyle ODate.ISO8601FormatStyle.DateSeparator ODate.ISO8601FormatStyle.DateTimeSeparator
      ODate.ISO8601FormatStyle.TimeSeparator ODate.ISO8601FormatStyle.TimeZoneSeparator VDateComponents
      VDateComponents.ISO8601FormatStyle VDateInterval VDebugStringConversionState PDebugStringConvertiblePredicateExpression
      VDecimal ODecimal.CalculationError ODecimal.RoundingMode PDecodableAttributedStringKey PDecodableWithConfiguration
      PDecodingConfigurationProviding ODefaultAssociatedValueCodingKeys1 ODefaultAssociatedValueCodingKeys2
      VDiscontiguousAttributedSubstring PDiscreteFormatStyle OEmptyCodingKeys PEncodableAttributedStringKey
      PEncodableWithConfiguration PEncodingConfigurationProviding VExpression VFileAttributeKey VFileAttributeType
      CFileManager VFileManager.DirectoryEnumerationOptions VFileManager.ItemReplacementOptions
      OFileManager.SearchPathDirectory VFileManager.SearchPathDomainMask OFileManager.URLRelationship
      VFileManager.UnmountOptions PFileManagerDelegate VFileProtectionType PFormatStyle VFormatterCache VICUCLDRKey
      VICULegacyKey VIndexPath CJSONDecoder OJSONDecoder.DataDecodingStrategy OJSONDecoder.DateDecodingStrategy
      OJSONDecoder.KeyDecodingStrategy OJSONDecoder.NonConformingFloatDecodingStrategy CJSONEncoder
      OJSONEncoder.DataEncodingStrategy OJSONEncoder.DateEncodingStrategy OJSONEncoder.KeyEncodingStrategy
      OJSONEncoder.NonConformingFloatEncodingStrategy VJSONEncoder.OutputFormatting VLocale VLocale.Collation
      VLocale.Components VLocale.Currency OLocale.HourCycle OLocale.IdentifierType VLocale.Language
      VLocale.Language.Components VLocale.LanguageCode OLocale.LanguageCode.IdentifierType OLocale.LanguageDirection
      VLocale.MeasurementSystem VLocale.NumberingSystem VLocale.Region VLocale.Script VLocale.Subdivision VLocale.Variant
      OLocale.Weekday VLocalePreferences OLocalePreferences.MeasurementUnit OLocalePreferences.TemperatureUnit PLocalizedError
      VLockedState PMarkdownDecodableAttributedStringKey PMutableDataProtocol CNotificationCenter
      PNotificationCenter.AsyncMessage VNotificationCenter.BaseMessageIdentifier PNotificationCenter.MainActorMessage
      PNotificationCenter.MessageIdentifier VNotificationCenter.ObservationToken VOperatingSystemVersion VOptionalComparator
      VPOSIXError PParseStrategy PParseableFormatStyle VPlatform VPredicate VPredicateBindings VPredicateError
      PPredicateExpression OPredicateExpressions VPredicateExpressions.Arithmetic OPredicateExpressions.ArithmeticOperator
      VPredicateExpressions.ClosedRange VPredicateExpressions.CollectionContainsCollection
      VPredicateExpressions.CollectionIndexSubscript VPredicateExpressions.CollectionRangeSubscript
      VPredicateExpressions.Comparison OPredicateExpressions.ComparisonOperator VPredicateExpressions.Conditional
      VPredicateExpressions.ConditionalCast VPredicateExpressions.Conjunction
      VPredicateExpressions.DictionaryKeyDefaultValueSubscript VPredicateExpressions.DictionaryKeySubscript
      VPredicateExpressions.Disjunction VPredicateExpressions.Equal VPredicateExpressions.ExpressionEvaluate
      VPredicateExpressions.Filter VPredicateExpressions.FloatDivision VPredicateExpressions.ForceCast
      VPredicateExpressions.ForcedUnwrap VPredicateExpressions.IntDivision VPredicateExpressions.IntRemainder
      VPredicateExpressions.KeyPath OPredicateExpressions.KeyPath.CommonKeyPathKind VPredicateExpressions.Negation
      VPredicateExpressions.NilCoalesce VPredicateExpressions.NilLiteral VPredicateExpressions.NotEqual
      VPredicateExpressions.OptionalFlatMap VPredicateExpressions.PredicateRegex VPredicateExpressions.Range
      VPredicateExpressions.RangeExpressionContains VPredicateExpressions.SequenceAllSatisfy
      VPredicateExpressions.SequenceContains VPredicateExpressions.SequenceContainsWhere VPredicateExpressions.SequenceMaximum
      VPredicateExpressions.SequenceMinimum VPredicateExpressions.SequenceStartsWith VPredicateExpressions.StringContainsRegex
      VPredicateExpressions.TypeCheck VPredicateExpressions.UnaryMinus VPredicateExpressions.Value
      VPredicateExpressions.Variable VPredicateExpressions.VariableID CProcessInfo CPropertyListDecoder
      OPropertyListDecoder.PropertyListFormat CPropertyListEncoder VScopedAttributeContainer PSortComparator OSortOrder
      PStandardPredicateExpression VTimeZone OTimeZone.DaylightSavingTimePolicy OTimeZone.NameStyle PUIDNAHook VURL
      OURL.DirectoryHint VURL.Template VURL.Template.Value VURL.Template.VariableName VURLComponents VURLQueryItem
      VURLResourceKey VUUID VWeekendRange
      """
    ),
    (
      "Foundation",
      """
      VAffineTransform VAlignmentOptions CBlockOperation CBundle CByteCountFormatter OByteCountFormatter.CountStyle
      VByteCountFormatter.Units VCGFloat VCGPoint VCGRect OCGRectEdge VCGSize VCharacterSet PCustomNSError
      CDateComponentsFormatter ODateComponentsFormatter.UnitsStyle VDateComponentsFormatter.ZeroFormattingBehavior
      CDateFormatter ODateFormatter.Style CDateIntervalFormatter ODateIntervalFormatter.Style CDimension CEnergyFormatter
      OEnergyFormatter.Unit CFileHandle CFormatter OFormatter.Context OFormatter.UnitStyle CHost CISO8601DateFormatter
      VISO8601DateFormatter.Options VIndexSet VIndexSet.Index VIndexSet.RangeView OInflectionRule CInputStream
      CJSONSerialization VJSONSerialization.ReadingOptions VJSONSerialization.WritingOptions CLengthFormatter
      OLengthFormatter.Unit CMassFormatter OMassFormatter.Unit VMeasurement CMeasurementFormatter
      VMeasurementFormatter.UnitOptions CMessagePort VMorphology VMorphology.CustomPronoun OMorphology.GrammaticalGender
      OMorphology.GrammaticalNumber OMorphology.PartOfSpeech CNSAffineTransform VNSAffineTransformStruct CNSArray
      VNSArray.Iterator CNSAttributedString VNSAttributedString.EnumerationOptions VNSAttributedString.Key
      VNSBinarySearchingOptions CNSCache PNSCacheDelegate CNSCalendar VNSCalendar.Identifier VNSCalendar.Options
      VNSCalendar.Unit CNSCharacterSet CNSCoder ONSCoder.DecodingFailurePolicy PNSCoding CNSComparisonPredicate
      ONSComparisonPredicate.Modifier ONSComparisonPredicate.Operator VNSComparisonPredicate.Options CNSCompoundPredicate
      ONSCompoundPredicate.LogicalType CNSCondition CNSConditionLock PNSCopying CNSCountedSet CNSData CNSDate
      CNSDateComponents CNSDateInterval CNSDecimalNumber PNSDecimalNumberBehaviors CNSDecimalNumberHandler CNSDictionary
      VNSDictionary.Iterator VNSEdgeInsets VNSEnumerationOptions CNSEnumerator VNSEnumerator.Iterator CNSError
      VNSExceptionName CNSExpression ONSExpression.ExpressionType CNSIndexPath CNSIndexSet VNSIndexSetIterator
      CNSKeyedArchiver PNSKeyedArchiverDelegate CNSKeyedUnarchiver PNSKeyedUnarchiverDelegate CNSLocale VNSLocale.Key CNSLock
      PNSLocking CNSMachPort CNSMeasurement CNSMutableArray CNSMutableAttributedString CNSMutableCharacterSet
      PNSMutableCopying CNSMutableData CNSMutableDictionary CNSMutableIndexSet CNSMutableOrderedSet CNSMutableSet
      CNSMutableString CNSNotification VNSNotification.Name CNSNull CNSNumber CNSObject PNSObjectProtocol CNSOrderedSet
      CNSOrthography CNSPersonNameComponents CNSPredicate ONSRectEdge CNSRecursiveLock CNSRegularExpression
      VNSRegularExpression.MatchingFlags VNSRegularExpression.MatchingOptions VNSRegularExpression.Options PNSSecureCoding
      CNSSet CNSSortDescriptor VNSSortOptions CNSString VNSString.EncodingConversionOptions VNSString.EnumerationOptions
      VNSTextCheckingKey CNSTextCheckingResult VNSTextCheckingResult.CheckingType CNSTimeZone CNSURL CNSURLComponents
      CNSURLQueryItem CNSUUID CNSValue VNSZone VNotification CNotificationQueue VNotificationQueue.NotificationCoalescing
      ONotificationQueue.PostingStyle CNumberFormatter ONumberFormatter.PadPosition ONumberFormatter.RoundingMode
      ONumberFormatter.Style VObjCBool COperation OOperation.QueuePriority COperationQueue COutputStream VPersonNameComponents
      CPersonNameComponentsFormatter VPersonNameComponentsFormatter.Options OPersonNameComponentsFormatter.Style CPipe CPort
      PPortDelegate CPortMessage CProcess OProcess.TerminationReason CProgress VProgress.FileOperationKind VProgressKind
      PProgressReporting VProgressUserInfoKey CPropertyListSerialization VPropertyListSerialization.MutabilityOptions
      OQualityOfService PRecoverableError PReferenceConvertible CRunLoop VRunLoop.Mode CScanner OScanner.NumberRepresentation
      CSocketPort CStream VStream.Event VStream.PropertyKey OStream.Status PStreamDelegate VStreamNetworkServiceTypeValue
      VStreamSOCKSProxyConfiguration VStreamSOCKSProxyVersion VStreamSocketSecurityLevel VStringTransform CThread CTimer
      VURLError OURLError.Code VURLFileResourceType VURLResourceKey VURLResourceValues CUnit CUnitAcceleration CUnitAngle
      CUnitArea CUnitConcentrationMass CUnitConverter CUnitConverterLinear CUnitDispersion CUnitDuration CUnitElectricCharge
      CUnitElectricCurrent CUnitElectricPotentialDifference CUnitElectricResistance CUnitEnergy CUnitFrequency
      CUnitFuelEfficiency CUnitIlluminance CUnitInformationStorage CUnitLength CUnitMass CUnitPower CUnitPressure CUnitSpeed
      CUnitTemperature CUnitVolume CUserDefaults
      """
    ),
    (
      "FoundationInternationalization",
      """
      VByteCountFormatStyle VByteCountFormatStyle.Attributed OByteCountFormatStyle.Style VByteCountFormatStyle.Units
      OCurrencyFormatStyleConfiguration VCurrencyFormatStyleConfiguration.Presentation
      VCurrencyFormatStyleConfiguration.SignDisplayStrategy ODescriptiveNumberFormatConfiguration
      VDescriptiveNumberFormatConfiguration.Presentation CDimension VFloatingPointFormatStyle
      VFloatingPointFormatStyle.Attributed VFloatingPointFormatStyle.Currency VFloatingPointFormatStyle.Percent
      VFloatingPointParseStrategy VFormatStyleCapitalizationContext VIntegerFormatStyle VIntegerFormatStyle.Attributed
      VIntegerFormatStyle.Currency VIntegerFormatStyle.Percent VIntegerParseStrategy VKeyPathComparator VListFormatStyle
      OListFormatStyle.ListType OListFormatStyle.Width VMeasurement ONumberFormatStyleConfiguration
      VNumberFormatStyleConfiguration.DecimalSeparatorDisplayStrategy VNumberFormatStyleConfiguration.Grouping
      VNumberFormatStyleConfiguration.Notation VNumberFormatStyleConfiguration.Precision
      VNumberFormatStyleConfiguration.SignDisplayStrategy VSortDescriptor VStringStyle CUnitDuration
      """
    ),
  ]
}
